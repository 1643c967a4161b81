// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "index/brute_force.h"
#include "tare/base/execution.h"

namespace tare {

/// The distance from their nearest other row that kWithinSupport of the rows keep, measured on at
/// most kSupportRows of them: a new row like these is farther from its nearest one for about 1 % of
/// draws. Where that is 0, because nearly every row has an exact twin, the same of the nearest row
/// that lies elsewhere; 0 where all lie at one point. Infinite for a single row or no features.
double support_radius(const BruteForce& rows, const Execution& how);

inline constexpr double kWithinSupport = 0.99;
inline constexpr std::size_t kSupportRows = 2000;

}  // namespace tare
