// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "index/brute_force.h"
#include "tare/base/execution.h"

namespace tare {

/// The quantile of level kWithinSupport of the distance to the nearest other row, measured on at
/// most kSupportRows rows: about 1 % of new rows from the same distribution are farther from their
/// nearest row. If it is 0, because nearly every row has an exact duplicate, the distance to the
/// nearest distinct row is used; 0 if all rows are equal. Infinite for a single row or no features.
double support_radius(const BruteForce& rows, const Execution& how);

inline constexpr double kWithinSupport = 0.99;
inline constexpr std::size_t kSupportRows = 2000;

}  // namespace tare
