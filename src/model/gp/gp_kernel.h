// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "model/input/fit_input.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// What a Gaussian process assumes of a target: a function of all features with Matern correlations
/// (matern.h), perhaps a function of each feature alone, and independent noise around their sum.
/// Variances are in units of the target's.
struct GpKernel {
  Standard target;
  std::vector<Standard> column;
  std::vector<double> rate;  // of each standardised feature: one over its length
  double signal = 1.0;
  double noise = 0.1;              // of a row of weight 1; weights have mean 1
  std::vector<double> alone = {};  // the variance of each feature's own function; empty: none
  std::vector<double> alone_rate = {};

  std::size_t features() const { return rate.size(); }
  /// The variance of a target without its noise.
  double variance() const;
  /// Rows in units of the correlations: columns for the function of all features, then, if there
  /// are any, as many for those of one.
  Matrix scaled(MatrixView x) const;
  /// Between scaled rows: rows of z x points. The result does not depend on the threads.
  Matrix covariance(const Matrix& z, const Matrix& points, const Execution& how) const;
};

/// Standardised, and brought within a bound if far outside, so that distances are finite.
double standardised_feature(double value, const Standard& column);

}  // namespace tare
