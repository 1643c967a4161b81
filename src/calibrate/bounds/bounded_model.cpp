// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bounds/bounded_model.h"

#include <cmath>
#include <utility>

#include "base/fail.h"
#include "base/stages.h"
#include "tare/calibrate/description.h"

namespace tare {

void BoundedModel::keep(Matrix& values) const {
  for (double& value : values.values()) value = bounds_.nearest(value);
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
