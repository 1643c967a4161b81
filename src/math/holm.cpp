// SPDX-License-Identifier: BSD-3-Clause
#include "math/holm.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tare {

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double own = static_cast<double>(p.size() - k) * p[order[k]];
    largest = std::max(largest, std::min(1.0, own));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace tare
