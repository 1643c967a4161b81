// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "tare/base/level.h"

namespace tare {

/// The level of a second model that a level rests on in a loose guarantee.
struct BackingLevel {
  Level level;
  bool kept = true;  // false: there are too few rows for it, and it is the outermost they keep
};

/// For ranked rows of mass `all` in sum and a new row of mass `fresh`: kLooseErrors standard errors
/// of a share of so many rows nearer to the median, but with at most twice the misses. So the 95 %
/// quantile rests on the 90 % rank if there are few rows, and on a rank near 95 % if there are
/// many. None if so many misses are more than kMostBackedMisses: such a bound would hardly say
/// anything, and the second model would move the quantiles near the median, where the loss is
/// largest.
inline constexpr double kLooseErrors = 2.0;
inline constexpr double kMostBackedMisses = 0.25;
std::optional<BackingLevel> backing_level(Level level, Mass all, Mass fresh);

}  // namespace tare
