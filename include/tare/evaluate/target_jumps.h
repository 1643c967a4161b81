// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace TARE_PUBLIC tare {

/// The jump of the predicted distribution at a target: from P(Y < y) to P(Y <= y), as far as the
/// quantiles show it. Counts, grades and zeros have jumps.
///
/// The randomised probability integral transform of a tie is uniform on the jump. A metric counts
/// the expectation over it, a share between 0 and 1. A perfect forecaster of any target then has y
/// below its quantile of level tau in a share tau of the rows. Counting y <= q as 1 instead would
/// count the whole jump.
struct TargetJump {
  double low = 0.0, high = 0.0;  // equal: the target equals none of the quantiles

  bool empty() const noexcept { return !(low < high); }
  /// The share of the jump that lies at levels up to tau. Not for an empty one.
  double share(double tau) const noexcept {
    return tau <= low ? 0.0 : tau >= high ? 1.0 : (tau - low) / (high - low);
  }
};

/// The jump of each row, estimated from its quantiles. It starts half way between the last level
/// whose quantile is below y and the first whose quantile equals y, and ends in the same way above.
/// 0 and 1 count as levels before the first and after the last. A jump of two or more levels that
/// includes the first or last level extends to 0 or 1. Levels may be in any order, and more levels
/// are more precise; errors as for metrics.h.
std::vector<TargetJump> target_jumps(std::span<const double> y, MatrixView q,
                                     std::span<const Level> levels);

/// 1 where y is below q, the quantile of level tau, 0 where it is above, and the share of the jump
/// where it equals q (1 where the jump is empty).
inline double share_below(double y, double q, double tau, const TargetJump& jump) noexcept {
  if (y != q) return y < q ? 1.0 : 0.0;
  return jump.empty() ? 1.0 : jump.share(tau);
}

/// Likewise the share of the row in its interval between the quantiles of two levels. Where the
/// jump is empty an end belongs to the interval.
inline double share_inside(double y, double lower, double upper, double lower_tau, double upper_tau,
                           const TargetJump& jump) noexcept {
  const double below_lower =
      y == lower && jump.empty() ? 0.0 : share_below(y, lower, lower_tau, jump);
  const double inside = share_below(y, upper, upper_tau, jump) - below_lower;
  return inside > 0.0 ? inside : 0.0;
}

}  // namespace tare
