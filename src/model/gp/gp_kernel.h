// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "model/input/fit_input.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare {

/// What a Gaussian process assumes of a target: a function with Matern correlations (matern.h) and
/// independent noise around it. Variances are in units of the target's.
struct GpKernel {
  Standard target;
  std::vector<Standard> column;
  std::vector<double> rate;  // of each standardised feature: one over its length
  double signal = 1.0;
  double noise = 0.1;  // of a row of weight 1; weights have mean 1

  /// Rows in units of the correlation. Values far outside are brought within a bound, so that
  /// distances are finite.
  Matrix scaled(MatrixView x) const;
};

/// The kernel with the largest likelihood of some of the rows.
GpKernel learn_gp_kernel(const RegressionData& data, Seed seed, const Execution& how);

}  // namespace tare
