// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tare {

/// Kolmogorov and Smirnov: the largest gap between the shares of n draws and the law exceeds
/// 2.0 / sqrt(n) with probability 2 exp(-8), about 7e-4; with fixed seeds the outcome never
/// changes.
inline double largest_gap(std::vector<double> shares) {
  std::sort(shares.begin(), shares.end());
  const auto n = static_cast<double>(shares.size());
  double gap = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto below = static_cast<double>(i);
    gap = std::max({gap, shares[i] - below / n, (below + 1.0) / n - shares[i]});
  }
  return gap;
}

}  // namespace tare
