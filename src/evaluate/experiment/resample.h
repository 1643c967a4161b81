// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace tare {

/// The paper's half-synthetic covariate shift: with m and S the mean and covariance of `train`, a
/// point c is drawn from N(m, S), and `count` rows of `pool` are drawn with replacement, row x with
/// a probability in proportion to the density of N(c, 0.3 S) at x. Directions in which `train` does
/// not vary are left out.
std::vector<std::size_t> resample_around(MatrixView train, MatrixView pool, std::size_t count,
                                         Seed seed);

}  // namespace tare
