// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/report_columns.h"

namespace tare {

/// What is counted in a place: how often it should happen is known for a calibrated model.
enum class CalibrationEvent : std::uint8_t {
  kCovered,      // the target is in its 90 % interval
  kBelowMedian,  // the target is not above the predicted median
};
double nominal_share(CalibrationEvent event);

/// One condition of a place: the column is within a range, or has a name.
struct PlaceCondition {
  std::size_t column = 0;
  double from = 0.0, to = 0.0;
  std::string name;  // of a category
};

/// Rows that were looked at together, and how far the model is off there.
struct Place {
  std::vector<PlaceCondition> where;  // all must hold; empty: all rows
  CalibrationEvent event = CalibrationEvent::kCovered;
  std::size_t rows = 0;
  double count = 0.0;            // in how many it happened; a tie counts by the share of its jump
  double share = 0.0;            // of the rows
  double low = 0.0, high = 1.0;  // 95 % for it, as if nothing else had been looked at
  double p = 1.0;                // of the exact two-sided test that the nominal share is right
  double adjusted = 1.0;         // the same, corrected for everything that was looked at (Holm)
  double sure_error = 0.0;  // the share is off by at least this, all places taken together, at 95 %

  bool too_low() const { return share < nominal_share(event); }
};

struct PlaceSearch {
  static constexpr double kLevel = 0.05;

  std::size_t looked_at = 0;  // places times events
  std::size_t found = 0;      // of these, with an adjusted p of at most kLevel
  std::vector<Place> worst;   // at most kWorst; no two of the same columns overlap
};
inline constexpr std::size_t kWorst = 8;

/// Looks for where a model is not calibrated: in all rows, in every range of each column made of
/// sixteenths of the rows (slabs), in each category and group, and in thirds of pairs of features.
/// Places with fewer than 20 rows or 2 % of them are left out.
///
/// Which places there are depends on the columns alone, never on the targets, so each test is
/// exact, and the correction is Holm's, which needs no independence: of models that are calibrated
/// given the columns, at most one in twenty has a place with an adjusted p of 0.05 or less. Rows
/// are taken to be independent of each other. Where targets repeat, the count is a sum of shares,
/// which varies less than the binomial law of the test: the test is then careful, not exact.
///
/// The worst come first: by how far they are surely off, then by p.
PlaceSearch find_worst_places(std::span<const ReportColumn> columns, const Outcomes& outcomes);

/// Holm's adjusted p-values, in the order of `p`.
std::vector<double> holm_adjusted(std::span<const double> p);

}  // namespace tare
