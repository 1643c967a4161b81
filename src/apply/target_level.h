// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/base/level.h"

namespace tare {

/// The level of a target among the quantiles of its row, which ascend with their levels: between
/// and beyond the levels it is linear in the quantile of a normal distribution, as answers of an
/// online model at other levels are. A target that equals several quantiles is in the middle of
/// their levels. Beside an infinite quantile it is half-way to the next level. NaN for a target
/// that is NaN, and if there are fewer than two levels.
double target_level(std::span<const Level> levels, std::span<const double> quantiles,
                    double target);

}  // namespace tare
