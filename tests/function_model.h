// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "tare/calibrate/quantile_model.h"

namespace tare {

/// A model whose quantiles are a function of a row's features and the level.
class FunctionModel : public QuantileModel {
 public:
  using Quantile = std::function<double(std::span<const double> x, double tau)>;
  FunctionModel(std::size_t features, Quantile quantile)
      : features_(features), quantile_(std::move(quantile)) {}

  std::size_t features() const override { return features_; }
  std::size_t given() const override { return 0; }
  void save(const TensorWriter&) const override {}

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution&) const override {
    Prediction p;
    p.quantiles = Matrix(rows.x.rows(), levels.size());
    for (std::size_t i = 0; i < rows.x.rows(); ++i) {
      for (std::size_t j = 0; j < levels.size(); ++j) {
        p.quantiles(i, j) = quantile_(rows.x.row(i), levels[j].value());
      }
    }
    return p;
  }

 private:
  std::size_t features_;
  Quantile quantile_;
};

}  // namespace tare
