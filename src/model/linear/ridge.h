// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "tare/model/regressor.h"

namespace tare {

inline constexpr ParamInfo kRidgeOptions[] = {
    {"penalty", "auto",
     "strength of the shrinkage, for standardised columns and the mean squared error; "
     "auto: by generalised cross-validation"},
};

/// Linear regression that minimises mean squared error + penalty * |b|^2, where b are the
/// coefficients of the standardised columns; the intercept is free.
///
/// The automatic penalty is the one of kRidgePenalties with the lowest generalised cross-validation
/// score, the larger one at a tie. Weights are precisions: their common factor does not matter, and
/// the score counts rows, not weights. Cost O(n d min(n, d) + min(n, d)^3). No randomness.
std::unique_ptr<Regressor> fit_ridge(const RegressionData& data, const Params& params, Seed seed,
                                     const Execution& how);
std::unique_ptr<Regressor> load_ridge(const TensorReader& in);

/// The grid: 10^(kLowest + k / kPerDecade), k = 0, ..., count - 1. Its low end leaves columns
/// unshrunk unless they are collinear to ten digits; its high end is the mean of Y.
struct RidgePenalties {
  static constexpr double kLowest = -10.0;
  static constexpr std::size_t kPerDecade = 5;
  static constexpr std::size_t kCount = 81;
  static double at(std::size_t k);
};

}  // namespace tare
