// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace TARE_PUBLIC tare {

/// The density ratio of a row: the density among the rows to predict divided by the density among
/// the rows of the fit. FitInput::shift holds it, so that a guarantee can evaluate it at new rows.
class Shift;

/// Weights that make the rows of a fit resemble the rows to predict.
struct ShiftWeights {
  std::vector<double> weight;          // of each row, multiplied by the given weights
  double effective_rows = 0.0;         // effective sample size, (sum w)^2 / sum w^2
  std::shared_ptr<const Shift> shift;  // for FitInput::shift
};

/// Estimates the density ratio by a logistic regression that separates the rows x, weighted by
/// `weight` (empty: equal weights), from the rows `fresh`, on features, their squares and products.
/// The ratio of a row is its odds under a model that was not trained on it. Ratios are clipped at
/// the value that 1 % of the rows exceed, or at twenty times their median if that is more. The
/// result does not depend on the number of threads. Throws kBadData if there are fewer than 20 rows
/// of either kind or a value is not finite, kShapeMismatch if columns differ.
ShiftWeights weigh_towards(MatrixView x, std::span<const double> weight, MatrixView fresh,
                           Seed seed, const Execution& how = {});

}  // namespace tare
