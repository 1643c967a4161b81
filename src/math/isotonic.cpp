// SPDX-License-Identifier: BSD-3-Clause
#include "math/isotonic.h"

#include <cassert>
#include <cstddef>

namespace tare {
namespace {

struct Pool {
  double value;
  double weight;
  std::size_t count;
};

}  // namespace

std::vector<double> isotonic_regression(std::span<const double> values,
                                        std::span<const double> weights) {
  assert((weights.empty() || weights.size() == values.size()) && "a weight for each value");

  std::vector<Pool> pools;  // ascending
  for (std::size_t i = 0; i < values.size(); ++i) {
    Pool last{values[i], weights.empty() ? 1.0 : weights[i], 1};
    while (!pools.empty() && pools.back().value > last.value) {
      const Pool& before = pools.back();
      const double weight = before.weight + last.weight;
      // Between the two for any rounding, so that no pool can overtake its neighbours.
      last.value += (before.value - last.value) * (before.weight / weight);
      last.weight = weight;
      last.count += before.count;
      pools.pop_back();
    }
    pools.push_back(last);
  }
  std::vector<double> fitted;
  fitted.reserve(values.size());
  for (const Pool& pool : pools) fitted.insert(fitted.end(), pool.count, pool.value);
  return fitted;
}

}  // namespace tare
