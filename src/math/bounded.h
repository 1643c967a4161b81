// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

namespace tare {

/// A value in the user's units, clamped so that sums and differences of a few are finite: answers
/// to extreme queries are extreme, but never NaN.
inline double bounded(double value) {
  constexpr double kFarthest = std::numeric_limits<double>::max() / 8.0;
  return std::clamp(value, -kFarthest, kFarthest);
}

}  // namespace tare
