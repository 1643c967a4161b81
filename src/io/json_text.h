// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tare {

/// Appends a text in quotes, escaped; bytes that are no UTF-8 are replaced.
void append_json_text(std::string& out, std::string_view text);

/// Appends the shortest decimal that reads back as the same double, or null for a number that JSON
/// cannot write (a guarantee's infinite end).
void append_json_number(std::string& out, double value);

/// Brackets within brackets that a file may have. The JSON library copies and frees values by
/// recursion, which a hostile file could drive until the stack ends.
inline constexpr std::size_t kMostJsonDepth = 64;

/// Whether the text opens more brackets than that within each other. O(n), no recursion.
bool is_nested_too_deeply(std::string_view json);

}  // namespace tare
