// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/examination.h"
#include "evaluate/report_columns.h"

namespace tare {

/// Rows told apart by one column, in slices that do not overlap: ranges of numbers from small to
/// large, or names.
struct Cut {
  struct Part {
    double from = 0.0, to = 0.0, middle = 0.0;  // smallest, largest and median value of the rows
    std::string name;                           // of a category
  };
  std::vector<Part> parts;
  std::vector<std::uint32_t> part_of_row;
};

/// Ranges with about as many rows each, at most `most` of them; equal values are never parted, so
/// that a constant is one range. Where there are no more than `most` values, each is a range.
/// Infinite values are allowed, NaN is not.
Cut cut_numbers(std::span<const double> values, std::size_t most);

/// One part for each name, the most frequent first; beyond `most` the rest is one part together.
Cut cut_names(std::span<const std::uint32_t> codes, std::span<const std::string> names,
              std::size_t most);

/// How many slices a column of that many rows is cut into: at least 20 rows each, at most 10.
std::size_t usual_slices(std::size_t rows);
inline constexpr std::size_t kMostNames = 15;

/// How a column is cut for pictures.
Cut cut_column(const ReportColumn& column);

/// How the 90 % intervals fared on the rows of a slice.
struct Slice {
  Cut::Part part;
  std::size_t rows = 0;
  std::size_t below = 0, above = 0;  // targets outside of their interval
  std::size_t on_end = 0;            // targets exactly at an end of it: counts, grades, zeros
  double coverage = 0.0;
  double coverage_low = 0.0, coverage_high = 1.0;  // 95 %, Clopper-Pearson
  double inside_low = 0.0;  // as coverage_low, for targets between the ends and not at one
  // The median of the widths, and 95 % for it by order statistics; for fewer rows than that takes,
  // the smallest and largest. Infinite where the intervals are.
  double width = 0.0, width_low = 0.0, width_high = 0.0;
};

/// Whether fewer, or more, are covered than should be, beyond chance. Where targets repeat even
/// right intervals cover more: an end that is a mass takes all of it in. That is no excess as long
/// as the share without the ends is below what is wanted.
bool covers_too_little(const Slice& slice);
bool covers_too_much(const Slice& slice);
/// What covers_too_much compares.
double surely_covered(const Slice& slice);

std::vector<Slice> tally_slices(const Cut& cut, const Outcomes& outcomes);

}  // namespace tare
