// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace tare {

/// The levels that a target takes up in its predicted distribution, where that has a jump at it:
/// from P(Y < y) to P(Y <= y), as far as quantiles show it. Counts, grades and zeros have jumps.
///
/// A target that equals its quantile at some level may lie anywhere in the jump: its place is
/// uniform there. What a metric counts is the expectation over that place, a share between 0 and 1,
/// and a perfect forecaster of any target then has y below its quantile of level tau in a share tau
/// of the rows. Counting y <= q as 1 instead gives it all of the jump.
struct TargetJump {
  double low = 0.0, high = 0.0;  // equal: the target equals none of the quantiles

  bool empty() const noexcept { return !(low < high); }
  /// The share of the jump that lies at levels up to tau. Not for an empty one.
  double share(double tau) const noexcept {
    return tau <= low ? 0.0 : tau >= high ? 1.0 : (tau - low) / (high - low);
  }
};

/// The jump of each row, as seen through its quantiles: it reaches from half way between the last
/// level whose quantile is not y and the first whose quantile is, to half way behind the last such
/// level. Before the first level there is 0 and behind the last 1; a jump that two or more levels
/// show and that goes on to the first or last of all reaches that end. Levels in any order, more of
/// them see more; errors as for metrics.h.
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
