// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "online/online_method.h"

namespace tare {

/// Counts of rows up to here are whole numbers as doubles as well.
inline constexpr std::size_t kMostLearnedRows = std::size_t{1} << 53;

/// target - prediction, bounded so that sums and differences of errors are finite. kBadData where
/// either is not finite.
double learned_error(const OnlineRow& row, double target);

}  // namespace tare
