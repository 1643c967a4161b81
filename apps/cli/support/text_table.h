// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tare::cli {

/// Rows of cells as aligned text: the first column to the left, the others to the right. The first
/// row is the heading. Control characters are shown as \x1b.
std::string text_table(const std::vector<std::vector<std::string>>& cells);

/// A number with four significant digits.
std::string short_number(double value);

}  // namespace tare::cli
