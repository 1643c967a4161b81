// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// The Matern correlation of smoothness 5/2 between rows of z and rows of `points`, as functions of
/// r = sqrt(5) |z_i - p_j|: rows of z x points.
struct Matern {
  Matrix value;  // (1 + r + r^2 / 3) exp(-r)
  Matrix slope;  // 5/3 (1 + r) exp(-r): minus the derivative by half the squared distance
};

enum class WithSlope : bool { kNo, kYes };

/// The result does not depend on the threads.
Matern matern(MatrixView z, MatrixView points, WithSlope with_slope, const Execution& how);

/// Adds `variance` times the correlations of numbers `own` apart from each of `points`:
/// result[j] += variance correlation(|own - points[j]|).
void add_matern(double own, std::span<const double> points, double variance,
                std::span<double> result);

/// What a sum over j of g[j] times such terms changes by: by the variance, and by the logarithm of
/// the unit of length.
struct MaternSlopes {
  double by_variance = 0.0;
  double by_log_rate = 0.0;
};
MaternSlopes matern_slopes(double own, std::span<const double> points, double variance,
                           std::span<const double> g);

}  // namespace tare
