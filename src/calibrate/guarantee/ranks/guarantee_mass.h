// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace tare {

/// Whole numbers that replace weights, so that ranks are exact for all weights. With equal weights
/// they are the ranks of counted rows, and no comparison depends on rounding.
using Mass = std::uint64_t;

/// The largest weight becomes this mass: 50,000 of them are far from 2^64, and a weight 2^32 times
/// smaller is still represented.
inline constexpr Mass kLargestMass = Mass{1} << 32;

/// From weights to masses.
class MassScale {
 public:
  MassScale() = default;  // every row counts 1
  /// Of rows that are ranked, all positive; empty: every row counts 1.
  explicit MassScale(std::span<const double> weights) {
    if (!weights.empty()) largest_ = std::ranges::max(weights);
  }
  /// Of a file: what largest() was.
  static MassScale of_largest(double largest) {
    MassScale scale;
    scale.largest_ = largest;
    return scale;
  }
  bool weighted() const noexcept { return largest_ > 0.0; }
  /// The largest weight; 0: every row counts 1.
  double largest() const noexcept { return largest_; }

  /// At least 1. A new row's weight is limited to 2^16 times the largest.
  Mass of(double weight) const {
    if (!weighted()) return 1;
    const double share = std::clamp(weight / largest_, 0.0, 65536.0);
    return std::max(Mass{1},
                    static_cast<Mass>(std::llround(share * static_cast<double>(kLargestMass))));
  }

 private:
  double largest_ = 0.0;
};

}  // namespace tare
