// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "tare/base/level.h"
#include "tare/calibrate/prediction.h"

namespace tare {

/// Calls `predict` with the distinct levels in ascending order and gives its columns back in the
/// caller's order, with repetitions. Methods can thus count on ascending levels, and users need not
/// think about order.
Prediction in_level_order(std::span<const Level> levels,
                          const std::function<Prediction(std::span<const Level>)>& predict);

/// A grid of levels: `lower`, which ascend below 0.5 and have at most six decimals, then 0.5 and
/// their mirror images.
std::vector<Level> mirrored_levels(std::span<const double> lower);

}  // namespace tare
