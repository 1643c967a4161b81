// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/set_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "math/compensated_sum.h"

namespace tare {
namespace {

constexpr double kCompared = 0.9;
constexpr std::size_t kDrawnSets = 120;

}  // namespace

bool SetComparison::Row::is_inside() const {
  return (ends[0] <= y && y <= ends[1]) || (ends[2] <= y && y <= ends[3]);
}

void SetComparisonTally::add(const QuantileModel& model, const Rows& rows,
                             std::span<const double> y, const Execution& how) {
  if (rows.x.rows() == 0) return;
  const std::vector<Level> coverage = {Level(kCompared)};
  const auto [low, high] = interval_levels(kCompared);
  const ShortestSets sets = shortest_sets(model, rows, coverage, how);
  const Prediction central = model.predict(rows, std::vector<Level>{low, Level(0.5), high}, how);
  guaranteed_ = guaranteed_ && sets.guaranteed;
  for (std::size_t i = 0; i < y.size(); ++i) {
    SetComparison::Row row{y[i], central.quantiles(i, 1), central.quantiles(i, 0),
                           central.quantiles(i, 2)};
    std::ranges::copy(sets.ends.row(i), row.ends);
    rows_.push_back(row);
  }
}

SetComparison SetComparisonTally::finish() const {
  if (rows_.empty()) fail(ErrorCode::kInvalidArgument, "sets of no row cannot be compared");
  SetComparison result;
  result.rows = rows_.size();
  result.guaranteed = guaranteed_;
  const auto count = static_cast<double>(rows_.size());
  std::size_t inside = 0, central_inside = 0, two = 0;
  CompensatedSum length, central_length;
  for (const SetComparison::Row& row : rows_) {
    const bool has_two = !std::isnan(row.ends[2]);
    if (row.is_inside()) ++inside;
    if (row.lower <= row.y && row.y <= row.upper) ++central_inside;
    if (has_two) ++two;
    length.add(row.ends[1] - row.ends[0]);
    if (has_two) length.add(row.ends[3] - row.ends[2]);
    central_length.add(row.upper - row.lower);
  }
  result.coverage = static_cast<double>(inside) / count;
  result.central_coverage = static_cast<double>(central_inside) / count;
  result.two_parts = static_cast<double>(two) / count;
  result.length = length.value() / count;
  result.central_length = central_length.value() / count;
  std::vector<SetComparison::Row> ordered = rows_;
  std::ranges::stable_sort(ordered, {}, &SetComparison::Row::median);
  const std::size_t drawn = std::min(kDrawnSets, ordered.size());
  for (std::size_t k = 0; k < drawn; ++k) {
    result.drawn.push_back(
        ordered[drawn > 1 ? k * (ordered.size() - 1) / (drawn - 1) : std::size_t{0}]);
  }
  return result;
}

}  // namespace tare
