// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "model/input/fit_input.h"
#include "model/tree/float_columns.h"
#include "model/tree/xgboost_train.h"
#include "tare/model/regressor.h"

namespace tare {

/// Regression data in the form in which trees learn: floats, the target standardised, the weights
/// with mean 1.
struct TreeTraining {
  FloatColumns columns;
  Standard target;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> weight;

  TreeTraining(const RegressionData& data, const Execution& how);
  /// Nothing can be learned: no columns, or a target that does not vary.
  bool trivial() const;
  /// A model that predicts the mean.
  std::unique_ptr<Regressor> constant() const;
};

/// The options that both kinds of trees hand to XGBoost. Exact splits are searched among all values
/// and lie halfway between two; binned ones among some hundred quantiles of each column.
struct TreeShape {
  std::size_t depth = 0;
  double min_leaf = 1.0;
  enum class Splits { kExact, kBinned } splits = Splits::kBinned;
  Seed seed;
};

BoosterParams tree_params(const TreeShape& shape);

}  // namespace tare
