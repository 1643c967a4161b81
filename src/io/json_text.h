// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace tare {

/// Appends a text in quotes, escaped; bytes that are no UTF-8 are replaced.
void append_json_text(std::string& out, std::string_view text);

/// Appends the shortest decimal that reads back as the same double, or null for a number that JSON
/// cannot write (a guarantee's infinite end).
void append_json_number(std::string& out, double value);

}  // namespace tare
