// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/binned_rows.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/parallel.h"

namespace tare {
namespace {

/// Halfway between two values, and above the lower one whatever rounding does.
float between(float low, float high) {
  const float middle = low + 0.5F * (high - low);
  return middle > low && middle <= high ? middle : high;
}

/// Edges between distinct values of a sorted column, at about equal numbers of rows.
std::vector<float> find_edges(std::span<const float> sorted, std::size_t least) {
  std::vector<float> edges;
  const double step = std::max(static_cast<double>(least),
                               static_cast<double>(sorted.size()) / BinnedRows::kMaxBins);
  double next = step;  // rows below the edge that comes next, at least
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!(sorted[i - 1] < sorted[i]) || static_cast<double>(i) < next) continue;
    edges.push_back(between(sorted[i - 1], sorted[i]));
    next = std::max(next + step, static_cast<double>(i) + 0.5 * step);
    if (edges.size() + 1 == BinnedRows::kMaxBins) break;
  }
  return edges;
}

/// Finds bins by a branch-free binary search: a branch would be unpredictable.
class EdgeSearch {
 public:
  explicit EdgeSearch(std::span<const float> edges) {
    edges_.fill(std::numeric_limits<float>::infinity());
    std::ranges::copy(edges, edges_.begin());
  }
  /// The number of edges at or below the value.
  std::uint8_t bin(float value) const {
    std::size_t at = 0;
    for (std::size_t step = BinnedRows::kMaxBins / 2; step > 0; step /= 2) {
      at += edges_[at + step - 1] <= value ? step : 0;
    }
    return static_cast<std::uint8_t>(at);
  }

 private:
  std::array<float, BinnedRows::kMaxBins> edges_;
};

}  // namespace

BinnedRows::BinnedRows(std::span<const float> x, std::size_t cols, const Execution& how,
                       std::size_t most, std::size_t least)
    : rows_(cols == 0 ? 0 : x.size() / cols), edges_(cols) {
  assert(rows_ * cols == x.size() && "x does not fill its rows");
  bins_.resize(x.size());
  parallel_for(how, cols, [&](std::size_t j) {
    const std::size_t step = rows_ <= most ? 1 : (rows_ + most - 1) / most;
    std::vector<float> values;
    for (std::size_t i = 0; i < rows_; i += step) values.push_back(x[i * cols + j]);
    std::sort(values.begin(), values.end());
    edges_[j] = find_edges(values, least);
    const EdgeSearch search(edges_[j]);
    for (std::size_t i = 0; i < rows_; ++i) bins_[j * rows_ + i] = search.bin(x[i * cols + j]);
  });
}

}  // namespace tare
