// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/report_columns.h"

namespace tare {

/// An event that is counted in a region; for a calibrated model its probability is known.
enum class CalibrationEvent : std::uint8_t {
  kCovered,      // the target is in its 90 % interval
  kBelowMedian,  // the target is at most the predicted median
};
double nominal_share(CalibrationEvent event);

/// One condition of a region: a column lies in a range, or equals a category.
struct RegionCondition {
  std::size_t column = 0;
  double from = 0.0, to = 0.0;
  std::string name;  // of a category
};

/// A set of rows given by conditions on columns, and the calibration error of the model there.
struct Region {
  std::vector<RegionCondition> where;  // all must hold; empty: all rows
  CalibrationEvent event = CalibrationEvent::kCovered;
  std::size_t rows = 0;
  double count = 0.0;            // of the event; a tie counts by the share of its jump
  double share = 0.0;            // of the rows
  double low = 0.0, high = 1.0;  // 95 % interval of the share, not corrected for other tests
  double p = 1.0;                // of the exact two-sided test of the nominal share
  double adjusted = 1.0;         // the same, corrected for all tests (Holm)
  double sure_error = 0.0;       // lower bound of the error, at 95 % for all regions together

  bool too_low() const { return share < nominal_share(event); }
};

struct RegionSearch {
  static constexpr double kLevel = 0.05;

  std::size_t looked_at = 0;  // regions times events
  std::size_t found = 0;      // of these, with an adjusted p of at most kLevel
  std::vector<Region> worst;  // at most kWorst; no two of the same columns overlap
};
inline constexpr std::size_t kWorst = 8;

/// Finds the regions where a model is not calibrated. Candidates are all rows, every range of each
/// column made of sixteenths of the rows, each category and group, and thirds of pairs of features.
/// Regions with fewer than 20 rows or 2 % of them are left out.
///
/// The candidates depend on the columns alone, never on the targets, so each test is exact. Holm's
/// correction needs no independence: of models that are calibrated given the columns, at most one
/// in twenty has a region with an adjusted p of 0.05 or less. Rows are assumed to be independent.
/// With ties the count is a sum of shares, which varies less than the binomial distribution of the
/// test: the test is then conservative, not exact.
///
/// The worst come first: by sure_error, then by p.
RegionSearch find_worst_regions(std::span<const ReportColumn> columns, const Outcomes& outcomes);

}  // namespace tare
