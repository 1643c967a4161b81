// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bounds/bounded_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/stages.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/shortest_sets.h"

namespace tare {

void BoundedModel::keep(Matrix& values) const {
  for (double& value : values.values()) value = bounds_.nearest(value);
}

bool BoundedModel::ranked_sets(const Rows& rows, std::span<const Level> coverages,
                               const Execution& how, ShortestSets& sets) const {
  if (!inner().ranked_sets(rows, coverages, how, sets)) return false;
  const auto is_outside = [&](double low, double high) {
    return (bounds_.low && high < *bounds_.low) || (bounds_.high && low > *bounds_.high);
  };
  for (std::size_t i = 0; i < sets.ends.rows(); ++i) {
    for (std::size_t k = 0; k < coverages.size(); ++k) {
      const std::span<double> one = sets.ends.row(i).subspan(kSetColumns * k, kSetColumns);
      if (std::isnan(one[2])) continue;
      const bool only_second = is_outside(one[0], one[1]) && !is_outside(one[2], one[3]);
      if (!only_second && !is_outside(one[2], one[3])) continue;
      if (only_second) std::copy_n(one.begin() + 2, 2, one.begin());
      one[2] = one[3] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  keep(sets.ends);  // NaN stays
  return true;
}

void BoundedModel::describe(Description& description) const {
  TransparentModel::describe(description);
  description.bounds = {.low = bounds_.low, .high = bounds_.high};
}

void BoundedModel::save(const TensorWriter& out) const {
  inner().save(out);
  if (bounds_.low) out.value("bounds.low", *bounds_.low);
  if (bounds_.high) out.value("bounds.high", *bounds_.high);
}

bool BoundedModel::is_in(const TensorReader& in) {
  return in.has_value("bounds.low") || in.has_value("bounds.high");
}

std::unique_ptr<BoundedModel> BoundedModel::load(const TensorReader& in,
                                                 std::unique_ptr<const QuantileModel> inner) {
  TargetBounds bounds;
  if (in.has_value("bounds.low")) bounds.low = in.get<double>("bounds.low");
  if (in.has_value("bounds.high")) bounds.high = in.get<double>("bounds.high");
  const bool sound = (!bounds.low || std::isfinite(*bounds.low)) &&
                     (!bounds.high || std::isfinite(*bounds.high)) &&
                     (!bounds.low || !bounds.high || *bounds.low < *bounds.high);
  if (!sound) fail(ErrorCode::kCorruptFile, "the model file's bounds are damaged");
  return std::make_unique<BoundedModel>(std::move(inner), bounds);
}

Prediction BoundedModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                           const Execution& how) const {
  Prediction result = inner().predict(rows, levels, how);
  keep(result.quantiles);
  return result;
}

void BoundedModel::add_reliability(const Rows& rows, std::span<const Level> levels,
                                   const Execution& how, Prediction& answer) const {
  // Bands lie around the answer before it was cut.
  Prediction free;
  if (!levels.empty()) free = inner().predict(rows, levels, quietly(how));
  inner().add_reliability(rows, levels, how, free);
  answer.effective_n = std::move(free.effective_n);
  answer.band_low = std::move(free.band_low);
  answer.band_high = std::move(free.band_high);
  keep(answer.band_low);
  keep(answer.band_high);
}

}  // namespace tare
