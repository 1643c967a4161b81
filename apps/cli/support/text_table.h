// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tare::cli {

/// Rows of cells as aligned text: the first column to the left, the others to the right. The first
/// row is the heading.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// A number with four significant digits.
std::string short_number(double value);

}  // namespace tare::cli
