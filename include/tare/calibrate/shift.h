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

/// How much more often rows like a given one occur among those to be predicted than among those of
/// the fit. FitInput::shift takes it, so that a guarantee can ask it about new rows.
class Shift;

/// Weights that make the rows of a fit resemble the rows to be predicted.
struct ShiftWeights {
  std::vector<double> weight;          // of each row, with the given weights in it
  double effective_rows = 0.0;         // (sum w)^2 / sum w^2: what is left of them
  std::shared_ptr<const Shift> shift;  // for FitInput::shift
};

/// Tells the rows x, which count by `weight` (empty: the same), from the rows `fresh` by logistic
/// regression on their features, their squares and products; a row's odds, asked of a model that
/// has not seen it, are the ratio of the two densities. Ratios are cut off at the value that 1 % of
/// the rows exceed, or twenty times their median where that is more. The result does not depend on
/// threads. Throws kBadData where there are fewer than 20 rows of either kind or a value is not
/// finite, kShapeMismatch where columns differ.
ShiftWeights weigh_towards(MatrixView x, std::span<const double> weight, MatrixView fresh,
                           Seed seed, const Execution& how = {});

}  // namespace tare
