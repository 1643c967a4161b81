// SPDX-License-Identifier: BSD-3-Clause
#include "math/simplex_weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tare {

std::vector<double> simplex_weights(std::span<const double> gram, std::size_t count) {
  assert(count > 0 && gram.size() == count * count && "a square matrix");
  // Weight moves from one entry to another, by the optimal amount for that pair, until no pair
  // improves. The steepest pair comes first; few entries need few steps.
  constexpr int kMostMoves = 10'000;
  constexpr double kLittle = 1e-12;
  std::vector<double> weight(count, 1.0 / static_cast<double>(count));
  std::vector<double> slope(count);
  for (int move = 0; move < kMostMoves; ++move) {
    double scale = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      slope[i] = 0.0;
      for (std::size_t j = 0; j < count; ++j) slope[i] += gram[i * count + j] * weight[j];
      scale = std::max(scale, std::abs(gram[i * count + i]));
    }
    const auto to = static_cast<std::size_t>(std::ranges::min_element(slope) - slope.begin());
    std::size_t from = to;
    for (std::size_t i = 0; i < count; ++i) {
      if (weight[i] > 0.0 && slope[i] > slope[from]) from = i;
    }
    if (slope[from] - slope[to] <= kLittle * scale) break;
    const double bend =
        gram[from * count + from] + gram[to * count + to] - 2.0 * gram[from * count + to];
    const double best = bend > 0.0 ? (slope[from] - slope[to]) / bend : weight[from];
    const double moved = std::min(best, weight[from]);
    weight[to] += moved;
    weight[from] = moved == weight[from] ? 0.0 : weight[from] - moved;
  }
  return weight;
}

}  // namespace tare
