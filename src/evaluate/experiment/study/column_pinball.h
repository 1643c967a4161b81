// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/data/problem.h"

namespace tare {

/// Every combination of `per_feature` evenly spaced values in (0, 1) for each of `dims` features,
/// the first feature slowest: uniform features, made finite, so that averages over some of them are
/// sums.
Matrix feature_grid(std::size_t dims, std::size_t per_feature);

/// The pinball loss that q has on average under N(0, sd^2).
double expected_normal_pinball(double q, double sd, Level level);

/// The mean over `levels` and the rows of a feature_grid() of the pinball loss of the best
/// quantiles of the residual that know only the first k features, for k = 0, ..., dims: what
/// Theorem 5 compares. The problem has normal noise around its mean.
std::vector<double> best_column_pinball(const Problem& problem, std::size_t per_feature,
                                        std::span<const Level> levels);

}  // namespace tare
