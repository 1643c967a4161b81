// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace tare::cli {

/// The text with control characters and bytes that are no UTF-8 as \x1b, so that a name or a cell
/// of a file cannot steer the terminal. Line breaks are control characters, too.
std::string printable(std::string_view text);
/// The same, but line breaks stay.
std::string printable_lines(std::string_view text);

/// Writes to standard error, as it is. A failure is ignored: where nobody can be told, the work
/// still counts. A reader that has gone away sends no signal.
void write_error(std::string_view text) noexcept;

/// A message on one line of standard error, "error: " and its text. A text of many kilobytes, which
/// a file's names may be, is cut off.
void tell(std::string_view lead, std::string_view text) noexcept;

/// Writes to standard output what printable_lines makes of it. Throws where it cannot.
void write_output(std::string_view text);
template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  write_output(fmt::format(text, std::forward<Args>(args)...));
}

/// Opens a placeholder for each standard stream that is closed, so that no file of ours gets its
/// number and then the messages. Reading and writing a placeholder fail as a closed stream does.
void hold_standard_streams() noexcept;

}  // namespace tare::cli
