// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/scaling.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "io/tensor_store.h"
#include "math/tame_weights.h"

namespace tare::nn {

Scaling::Scaling(const RegressionData& data) : Scaling(of_columns(data)) {
  target_ = standardise(
      data.x.rows(), [&](std::size_t i) { return data.y[i]; }, data.weight);
}

Scaling Scaling::of_columns(const RegressionData& data) {
  Scaling scaling;
  for (std::size_t j = 0; j < data.x.cols(); ++j) {
    const auto value = [&](std::size_t i) { return data.x(i, j); };
    scaling.column_.push_back(standardise(data.x.rows(), value, data.weight));
  }
  return scaling;
}

Scaling::Scaling(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  const auto center = in.values<double>("center", {features}, Must::kBeFinite);
  const auto scale = in.values<double>("scale", {features}, Must::kBePositive);
  const auto target = in.values<double>("target", {2});
  target_ = {target[0], target[1]};
  for (std::size_t j = 0; j < features; ++j) column_.push_back({center[j], scale[j]});
  if (!std::isfinite(target_.mean) || !std::isfinite(target_.scale) || !(target_.scale > 0.0)) {
    fail(ErrorCode::kCorruptFile,
         "the model file's network has a scale that is not a positive number");
  }
}

void Scaling::scale_row(std::span<const double> row, std::span<float> out) const {
  constexpr double kFarthest = 1e15;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const double value = standardised(row[j], column_[j]);
    out[j] = static_cast<float>(std::clamp(value, -kFarthest, kFarthest));
  }
}

void Scaling::save(const TensorWriter& out) const {
  std::vector<double> center;
  std::vector<double> scale;
  for (const Standard& column : column_) {
    center.push_back(column.mean);
    scale.push_back(column.scale);
  }
  out.value("features", features());
  out.tensor("center", center);
  out.tensor("scale", scale);
  out.tensor("target", std::vector<double>{target_.mean, target_.scale});
}

ScaledRows::ScaledRows(const RegressionData& data, const Scaling& scaling)
    : cols(data.x.cols()),
      x(data.x.rows() * data.x.cols()),
      y(data.x.rows()),
      weight(data.weight.size()) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    scaling.scale_row(data.x.row(i), std::span<float>(x).subspan(i * cols, cols));
    y[i] = scaling.scale_target(data.y[i]);
  }
  // In units of the largest, so that the sum cannot overflow.
  const double largest = weight.empty() ? 1.0 : std::ranges::max(data.weight);
  double mean = 0.0;
  for (const double w : data.weight) mean += w / largest / static_cast<double>(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] = single_weight(data.weight[i] / largest / mean);
  }
}

}  // namespace tare::nn
