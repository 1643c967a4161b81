// SPDX-License-Identifier: BSD-3-Clause
#include "model/forest/forest_tree.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace tare {
namespace {

// Targets that grow like powers of two would otherwise give a tree as deep as there are rows, and
// quadratic time.
constexpr std::size_t kDeepestForestTree = 64;

/// A row that was drawn.
struct DrawnRow {
  float weight;
  float sum;  // weight times target
};

/// Rows first, ..., last - 1 of each column's order are those of a node.
struct ForestPart {
  std::size_t first, last;
  std::size_t node;
  std::size_t depth;
  std::size_t rows() const { return last - first; }
};

struct ForestSplit {
  std::size_t column = 0;
  std::size_t left = 0;  // rows that go left; 0: there is no split
  // The squared error falls by the node's weight times this: with L the sum of weighted targets on
  // the left less their share of the node's, L^2 / (weight left * weight right).
  double gain = 0.0;
};

float halfway(float low, float high) {
  const float middle = low + 0.5F * (high - low);
  return middle > low && middle <= high ? middle : high;
}

class ForestTreeGrower {
 public:
  ForestTreeGrower(const SortedColumns& data, std::span<const float> y,
                   std::span<const float> weight, const ForestTreeShape& shape, Rng rng)
      : data_(data), shape_(shape), rng_(rng), columns_(data.cols()) {
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
    constexpr std::uint32_t kNotDrawn = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> place(data.rows(), kNotDrawn);
    for (std::size_t i = 0; i < data.rows(); ++i) {
      if (!(weight[i] > 0.0F)) continue;
      place[i] = static_cast<std::uint32_t>(row_.size());
      row_.push_back(static_cast<std::uint32_t>(i));
      drawn_.push_back({weight[i], weight[i] * y[i]});
      y_.push_back(y[i]);
    }
    order_.reserve(drawn_.size() * data.cols());
    for (std::size_t j = 0; j < data.cols(); ++j) {
      for (const std::uint32_t row : data.order(j)) {
        if (place[row] != kNotDrawn) order_.push_back(place[row]);
      }
    }
    goes_left_.resize(drawn_.size());
    right_.resize(drawn_.size());
  }

  TreeNodes grow() {
    TreeNodes tree;
    tree.root.push_back(0);
    tree.node.emplace_back();
    std::vector<ForestPart> open = {{0, drawn_.size(), 0, 0}};
    while (!open.empty()) {
      const ForestPart part = open.back();
      open.pop_back();
      if (!can_split(part.rows(), part.depth)) continue;
      const ForestSplit split = choose(part);
      if (split.left == 0) continue;
      const std::size_t left = tree.node.size();
      tree.node[part.node] = {static_cast<std::int32_t>(split.column), threshold(part, split),
                              static_cast<std::int32_t>(left), static_cast<std::int32_t>(left + 1)};
      tree.node.resize(left + 2);
      const std::size_t depth = part.depth + 1;
      if (!can_split(split.left, depth) && !can_split(part.rows() - split.left, depth)) continue;
      divide(part, split);
      const std::size_t middle = part.first + split.left;
      open.push_back({part.first, middle, left, depth});
      open.push_back({middle, part.last, left + 1, depth});
    }
    return tree;
  }

 private:
  std::span<std::uint32_t> order(std::size_t column, const ForestPart& part) {
    return std::span(order_).subspan(column * drawn_.size() + part.first, part.rows());
  }
  float value(std::size_t column, std::uint32_t place) const {
    return data_.values(column)[row_[place]];
  }
  bool can_split(std::size_t rows, std::size_t depth) const {
    return rows / 2 >= shape_.min_leaf && rows >= 2 && depth < kDeepestForestTree;
  }
  float threshold(const ForestPart& part, const ForestSplit& split) {
    const auto rows = order(split.column, part);
    return halfway(value(split.column, rows[split.left - 1]),
                   value(split.column, rows[split.left]));
  }

  ForestSplit choose(const ForestPart& part) {
    ForestSplit best;
    double weight = 0.0;
    double sum = 0.0;
    const auto rows = order(0, part);
    bool differ = false;
    for (const std::uint32_t place : rows) {
      weight += static_cast<double>(drawn_[place].weight);
      sum += static_cast<double>(drawn_[place].sum);
      differ |= y_[place] != y_[rows.front()];
    }
    if (!differ) return best;
    std::size_t looked_at = 0;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (looked_at >= shape_.tried && best.left > 0) break;
      std::swap(columns_[k], columns_[k + rng_.below(columns_.size() - k)]);
      const std::size_t column = columns_[k];
      const auto sorted = order(column, part);
      if (!(value(column, sorted.front()) < value(column, sorted.back()))) continue;
      ++looked_at;
      scan(sorted, column, weight, sum, best);
    }
    return best;
  }

  void scan(std::span<const std::uint32_t> sorted, std::size_t column, double weight, double sum,
            ForestSplit& best) const {
    const double mean = sum / weight;
    const std::size_t min_leaf = std::max<std::size_t>(1, shape_.min_leaf);
    double left = 0.0;
    double lead = 0.0;
    const auto add = [&](std::size_t k) {
      left += static_cast<double>(drawn_[sorted[k]].weight);
      lead += static_cast<double>(drawn_[sorted[k]].sum);
    };
    for (std::size_t k = 0; k + 1 < min_leaf; ++k) add(k);
    for (std::size_t k = min_leaf - 1; k + min_leaf < sorted.size(); ++k) {
      add(k);
      const double above = lead - left * mean;
      const double product = left * (weight - left);
      if (!(above * above > best.gain * product)) continue;
      // Rarely reached, so that values need to be looked up for few rows only.
      if (!(value(column, sorted[k]) < value(column, sorted[k + 1])) || !(product > 0.0)) continue;
      best = {column, k + 1, above * above / product};
    }
  }

  /// Puts the rows that go left before the others, in each column's order.
  void divide(const ForestPart& part, const ForestSplit& split) {
    const auto by_split = order(split.column, part);
    for (std::size_t k = 0; k < by_split.size(); ++k) goes_left_[by_split[k]] = k < split.left;
    for (std::size_t j = 0; j < data_.cols(); ++j) {
      if (j == split.column) continue;
      const auto rows = order(j, part);
      std::size_t lefts = 0;
      std::size_t rights = 0;
      for (const std::uint32_t place : rows) {  // without a branch, which would be unpredictable
        const std::size_t is_left = goes_left_[place];
        rows[lefts] = place;
        right_[rights] = place;
        lefts += is_left;
        rights += 1 - is_left;
      }
      std::copy_n(right_.begin(), rights, rows.begin() + static_cast<std::ptrdiff_t>(lefts));
    }
  }

  const SortedColumns& data_;
  const ForestTreeShape shape_;
  Rng rng_;
  std::vector<std::size_t> columns_;  // in the order in which they were last drawn
  std::vector<std::uint32_t> row_;    // of those drawn
  std::vector<DrawnRow> drawn_;
  std::vector<float> y_;
  std::vector<std::uint32_t> order_;  // of each column: places in drawn_
  std::vector<std::uint8_t> goes_left_;
  std::vector<std::uint32_t> right_;
};

}  // namespace

TreeNodes grow_forest_tree(const SortedColumns& data, std::span<const float> y,
                           std::span<const float> weight, const ForestTreeShape& shape, Rng rng) {
  return ForestTreeGrower(data, y, weight, shape, rng).grow();
}

}  // namespace tare
