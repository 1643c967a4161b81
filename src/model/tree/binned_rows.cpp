// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/binned_rows.h"

#include <algorithm>
#include <cassert>

namespace tare {
namespace {

/// Halfway between two values, and above the lower one whatever rounding does.
float between(float low, float high) {
  const float middle = low + 0.5F * (high - low);
  return middle > low && middle <= high ? middle : high;
}

/// Edges between distinct values of a sorted column, at about equal numbers of rows.
std::vector<float> find_edges(std::span<const float> sorted) {
  std::vector<float> edges;
  const double step = static_cast<double>(sorted.size()) / BinnedRows::kMaxBins;
  double next = step;  // rows below the edge that comes next, at least
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!(sorted[i - 1] < sorted[i]) || static_cast<double>(i) < next) continue;
    edges.push_back(between(sorted[i - 1], sorted[i]));
    next = std::max(next + step, static_cast<double>(i) + 0.5 * step);
    if (edges.size() + 1 == BinnedRows::kMaxBins) break;
  }
  return edges;
}

}  // namespace

BinnedRows::BinnedRows(std::span<const float> x, std::size_t cols)
    : rows_(cols == 0 ? 0 : x.size() / cols) {
  assert(rows_ * cols == x.size() && "x does not fill its rows");
  bins_.resize(x.size());
  std::vector<float> values(rows_);
  for (std::size_t j = 0; j < cols; ++j) {
    for (std::size_t i = 0; i < rows_; ++i) values[i] = x[i * cols + j];
    std::sort(values.begin(), values.end());
    const std::vector<float>& edges = edges_.emplace_back(find_edges(values));
    for (std::size_t i = 0; i < rows_; ++i) {
      const auto bin = std::upper_bound(edges.begin(), edges.end(), x[i * cols + j]);
      bins_[j * rows_ + i] = static_cast<std::uint8_t>(bin - edges.begin());
    }
  }
}

}  // namespace tare
