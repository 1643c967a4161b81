// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace tare {

/// The weights in a unit in which sums of them, and of them times `factor`, are finite: a power of
/// two, so that their ratios stay as they are. Empty where they are tame already. A weight that
/// vanishes beside the largest becomes 0.
inline std::vector<double> tame_weights(std::span<const double> weight, double factor = 1.0) {
  constexpr double kWide = 0x1.0p300;
  constexpr double kMost = 0x1.0p1000;
  const double largest = weight.empty() ? 0.0 : std::ranges::max(weight);
  std::vector<double> tame;
  if (largest == 0.0) return tame;
  if (largest <= kWide && largest >= 1.0 / kWide && largest < kMost / factor) return tame;
  for (const double w : weight) tame.push_back(std::ldexp(w, -std::ilogb(largest)));
  return tame;
}

/// A weight in single precision, where rows weigh 1 on average. One that is positive stays so: a
/// part of the rows in which all others are missing still has a mean.
inline float single_weight(double weight) {
  constexpr double kLeast = 1e-30;
  return static_cast<float>(weight > 0.0 ? std::max(weight, kLeast) : 0.0);
}

}  // namespace tare
