// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "tare/base/level.h"

namespace tare {

/// The share of a side that may be missed in place of `missed`: more by some standard errors of a
/// share of ranked rows, of mass `all` in sum beside a new one of mass `fresh`, but at most twice
/// as much.
double more_misses(double missed, double errors, Mass all, Mass fresh);

/// The level that misses more_misses on its side: nearer to the median from 0.5 on if it is an
/// upper bound, and below 0.5 if it is a lower one. It may lie on the other side of the median.
Level nearer_level(Level level, double errors, Mass all, Mass fresh);

/// The level of a bound that misses a share on the side of `side`, to a decimal fraction: that
/// decides about ranks, and 1 - 2 * 0.05 is not 0.9 in binary.
Level level_missing(double misses, Level side);

}  // namespace tare
