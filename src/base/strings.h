// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tare {

std::vector<std::string> split_text(std::string_view text, char mark);
std::string join(std::span<const std::string> parts, std::string_view between);
std::string_view trim(std::string_view text);
/// "a, b,c" to names; a blank text to none.
std::vector<std::string> split_names(std::string_view text);

/// The spelling by which names are compared: lower case, '-' and blanks as '_'.
std::string canonical_name(std::string_view name);

/// The whole text as a finite decimal number, or nothing. No locale, no hexadecimal.
std::optional<double> parse_number(std::string_view text);
/// The whole text as a non-negative whole number, or nothing.
std::optional<std::size_t> parse_count(std::string_view text);

/// For "did you mean" messages: the names closest to `wrong`, at most three, nearest first; may be
/// empty.
std::vector<std::string> closest_names(std::string_view wrong, std::span<const std::string> names);

}  // namespace tare
