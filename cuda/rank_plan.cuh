// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch.h"

namespace tare_cuda {

/// What a level needs of a window: a + share (b - a), for the values at two cumulative weights; and
/// in the smallest windows the paper's value, if that is farther from the median (RankRule).
struct Plan {
  double a = 0.0;
  double b = 0.0;
  double share = 0.0;
  double paper = 0.0;
};

/// A product as a whole number and a share of the way to the next. So near to a whole number that
/// rounding decides, it is that number.
__device__ inline double whole_part(double product, double& share) {
  const double nearest = rint(product);
  if (fabs(product - nearest) <= 1e-12 * (product + 1.0)) {
    share = 0.0;
    return nearest;
  }
  const double below = floor(product);
  share = product - below;
  return below;
}

__device__ inline Plan plan_of(double level, double total, double window_n, bool counts,
                               const TareCudaRanks& ranks) {
  Plan plan;
  const double slack = 1.0 - ranks.tie_slack;
  double share = 0.0;
  if (counts) {
    const double whole = whole_part(level * total, share);
    plan.paper = fmax(1.0, share > 0.0 ? whole + 1.0 : whole) - 0.5;
  } else {
    plan.paper = level * total * slack;
  }
  if (ranks.expected == 0) return plan;
  const double size = fmax(1.0, rint(window_n));
  const double parts = size + 1.0;
  const double inwards = fmin(static_cast<double>(ranks.tail_ranks), size - 1.0);
  const double rank = whole_part(level * parts, share);
  double a = rank;
  double b = share > 0.0 ? rank + 1.0 : rank;
  if (rank < 1.0 || rank > size || (rank == size && share > 0.0)) {
    const bool low = rank < 1.0;
    const double outside = (low ? level : 1.0 - level) * parts;
    a = low ? 1.0 : size;
    b = low ? 1.0 + inwards : size - inwards;
    share = inwards > 0.0 ? fmin(0.0, log(outside) / log(inwards + 1.0)) : 0.0;
  }
  const double step = total * slack / size;
  plan.a = (a - 0.5) * step;
  plan.b = (b - 0.5) * step;
  plan.share = share;
  return plan;
}

/// std::lerp, by the same operations: values of ascending shares ascend.
__device__ inline double mix(double a, double b, double share) {
  if ((a <= 0.0 && b >= 0.0) || (a >= 0.0 && b <= 0.0)) {
    return __dadd_rn(__dmul_rn(share, b), __dmul_rn(__dadd_rn(1.0, -share), a));
  }
  if (share == 1.0) return b;
  const double x = __dadd_rn(a, __dmul_rn(share, __dadd_rn(b, -a)));
  return (share > 1.0) == (b > a) ? (b < x ? x : b) : (b > x ? x : b);
}

/// The value of a level from those at its cumulative weights: found[0] at plan.a, found[1] at
/// plan.b, found[2] at plan.paper.
__device__ inline double value_of(const Plan& plan, const double (&found)[3], double level,
                                  bool expected, bool few) {
  if (!expected) return found[2];
  constexpr double kMost = 1.7976931348623157e308;
  double value = fmin(kMost, fmax(-kMost, mix(found[0], found[1], plan.share)));
  if (few && level < 0.5) value = fmin(value, found[2]);
  if (few && level > 0.5) value = fmax(value, found[2]);
  return value;
}

}  // namespace tare_cuda
