// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

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

}  // namespace tare
