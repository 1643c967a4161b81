// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "tare/base/level.h"

namespace tare {

/// The levels 0.01, ..., 0.99 at which bands know a row's distribution. A "curve" is the ascending
/// quantiles at these levels.
const std::vector<Level>& curve_levels();

/// The quantile at a level between 0.01 and 0.99; beyond, that of the nearest of the two.
double curve_quantile(std::span<const double> curve, double tau);

/// The level of a value, between 0 and 1. Where the curve is flat, the middle of the flat piece.
/// Outside the curve the level goes to 0 or 1 as the value goes away.
double curve_level(std::span<const double> curve, double value);

/// How far from level tau a value lies. Where the curve is flat the value has all levels of the
/// flat piece, and the nearest counts.
double level_deviation(std::span<const double> curve, double value, double tau);

/// The level at which ascending shares, one for each of curve_levels(), reach tau.
double level_with_share(std::span<const double> shares, double tau);

}  // namespace tare
