// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/answers/level_order.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tare {

Prediction in_level_order(std::span<const Level> levels,
                          const std::function<Prediction(std::span<const Level>)>& predict) {
  std::vector<Level> sorted(levels.begin(), levels.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  Prediction result = predict(sorted);
  if (std::equal(sorted.begin(), sorted.end(), levels.begin(), levels.end())) return result;

  std::vector<std::size_t> place(levels.size());
  for (std::size_t j = 0; j < levels.size(); ++j) {
    place[j] = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), levels[j]) -
                                        sorted.begin());
  }
  Matrix reordered(result.quantiles.rows(), levels.size());
  for (std::size_t i = 0; i < reordered.rows(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) reordered(i, j) = result.quantiles(i, place[j]);
  }
  result.quantiles = std::move(reordered);
  return result;
}

std::vector<Level> mirrored_levels(std::span<const double> lower) {
  std::vector<Level> levels;
  for (const double tau : lower) levels.emplace_back(tau);
  levels.emplace_back(0.5);
  for (std::size_t k = lower.size(); k-- > 0;) {
    levels.emplace_back(std::round(1e6 * (1.0 - lower[k])) / 1e6);
  }
  return levels;
}

}  // namespace tare
