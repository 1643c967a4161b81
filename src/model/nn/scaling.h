// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "math/bounded.h"
#include "model/input/fit_input.h"
#include "tare/model/regressor.h"

namespace tare {
class TensorReader;
class TensorWriter;
}  // namespace tare

namespace tare::nn {

using tare::bounded;

/// From the user's units to those of a network, and back: columns and target get (weighted) mean 0
/// and standard deviation 1; a constant one keeps scale 1.
class Scaling {
 public:
  explicit Scaling(const RegressionData& data);
  /// Columns as above; the target stays as it is, for one that was scaled before.
  static Scaling of_columns(const RegressionData& data);
  explicit Scaling(const TensorReader& in);

  std::size_t features() const { return column_.size(); }
  const Standard& target() const { return target_; }

  /// A row as a network sees it. Differences are taken in double, so that a large offset costs no
  /// digits; values are clamped to 1e15 standard deviations, so that no answer overflows.
  void scale_row(std::span<const double> row, std::span<float> out) const;
  float scale_target(double y) const {
    return static_cast<float>((y - target_.mean) / target_.scale);
  }
  double restore_target(float value) const {
    return bounded(target_.mean + target_.scale * static_cast<double>(value));
  }

  void save(const TensorWriter& out) const;

 private:
  Scaling() = default;

  std::vector<Standard> column_;
  Standard target_;
};

/// Standardised rows, as a network takes them. Weights have mean 1; empty if all are equal.
struct ScaledRows {
  ScaledRows(const RegressionData& data, const Scaling& scaling);

  std::size_t rows() const { return y.size(); }
  std::span<const float> row(std::size_t i) const {
    return std::span<const float>(x).subspan(i * cols, cols);
  }

  std::size_t cols;
  std::vector<float> x;  // row-major
  std::vector<float> y;
  std::vector<float> weight;
};

}  // namespace tare::nn
