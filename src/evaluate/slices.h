// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/examination.h"
#include "evaluate/report_columns.h"
#include "math/cut.h"
#include "math/proportion.h"

namespace tare {

/// One part for each name, the most frequent first; names beyond `most` share one part.
Cut cut_names(std::span<const std::uint32_t> codes, std::span<const std::string> names,
              std::size_t most);

/// Number of slices for a column of `rows` rows: at most 10, with at least 20 rows each.
std::size_t usual_slices(std::size_t rows);
inline constexpr std::size_t kMostNames = 15;

/// The slices of a column that figures show.
Cut cut_column(const ReportColumn& column);

/// Coverage and width of the 90 % intervals on the rows of a slice.
struct Slice {
  Cut::Part part;
  std::size_t rows = 0;
  std::size_t below = 0, above = 0;  // targets outside their interval
  std::size_t on_end = 0;            // targets equal to an end of it: counts, grades, zeros
  double coverage = 0.0;             // a target at an end counts by the share of its jump
  double counted = 0.0;              // the same with ties counted as inside
  double coverage_low = 0.0, coverage_high = 1.0;  // 95 %, see share_interval
  // The median width and its 95 % interval by order statistics (the smallest and largest width if
  // there are too few rows). Infinite if the intervals are.
  double width = 0.0, width_low = 0.0, width_high = 0.0;
};

/// Whether coverage is too low, or too high, beyond chance: the error bar lies on one side of 90 %.
bool covers_too_little(const Slice& slice);
bool covers_too_much(const Slice& slice);

/// A confidence interval for the mean of shares with the given sum: Clopper and Pearson's for a
/// whole number. Otherwise it joins the intervals of the two whole numbers around the sum, which is
/// conservative because shares vary less than 0 or 1.
ProportionInterval share_interval(double sum, std::size_t rows, double confidence);

std::vector<Slice> tally_slices(const Cut& cut, const Outcomes& outcomes);

}  // namespace tare
