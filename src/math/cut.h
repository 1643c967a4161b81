// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tare {

/// A division of the rows by one column into parts that do not overlap: ranges of numbers in
/// ascending order, or names.
struct Cut {
  struct Part {
    double from = 0.0, to = 0.0, middle = 0.0;  // smallest, largest and median value of the rows
    std::string name;                           // of a category
  };
  std::vector<Part> parts;
  std::vector<std::uint32_t> part_of_row;
};

/// At most `most` ranges with about equal numbers of rows; equal values are never separated, so a
/// constant is one range. If there are at most `most` distinct values, each is a range. Infinite
/// values are allowed, NaN is not.
Cut cut_numbers(std::span<const double> values, std::size_t most);

}  // namespace tare
