// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/examination.h"
#include "evaluate/report_columns.h"
#include "math/proportion.h"

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
  double coverage = 0.0;             // a target at an end counts by the share of its jump
  double counted = 0.0;              // the same with every target at an end counted as inside
  double coverage_low = 0.0, coverage_high = 1.0;  // 95 %, see share_interval
  // The median of the widths, and 95 % for it by order statistics; for fewer rows than that takes,
  // the smallest and largest. Infinite where the intervals are.
  double width = 0.0, width_low = 0.0, width_high = 0.0;
};

/// Whether fewer, or more, are covered than should be, beyond chance: the error bar is wholly on
/// one side of 90 %.
bool covers_too_little(const Slice& slice);
bool covers_too_much(const Slice& slice);

/// An interval for the mean of shares, of which `sum` was seen in `rows` rows: the one of Clopper
/// and Pearson for a whole number. For others its ends are those of the whole numbers around the
/// sum, since shares vary less than rows that are in or out.
ProportionInterval share_interval(double sum, std::size_t rows, double confidence);

std::vector<Slice> tally_slices(const Cut& cut, const Outcomes& outcomes);

}  // namespace tare
