// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/light_tree.h"

namespace tare {

TreeNodes LightTree::nodes(const BinnedRows& binned) const {
  TreeNodes tree;
  tree.root.push_back(0);
  const auto add_leaf = [&](float value) { tree.node.push_back({-1, value, 0, 0}); };
  const auto add_split = [&](const Split& split, std::int32_t left) {
    tree.node.push_back({static_cast<std::int32_t>(split.column),
                         binned.edge(split.column, split.bin), left, left + 1});
  };
  if (root.bin == kNoSplit) {
    add_leaf(leaf[0]);
    return tree;
  }
  add_split(root, 1);
  std::int32_t next = 3;  // behind the two children
  for (std::size_t side = 0; side < 2; ++side) {
    if (child[side].bin == kNoSplit) {
      add_leaf(leaf[2 * side]);
    } else {
      add_split(child[side], next);
      next += 2;
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if (child[side].bin == kNoSplit) continue;
    add_leaf(leaf[2 * side]);
    add_leaf(leaf[2 * side + 1]);
  }
  return tree;
}

void LightGrower::count(const LightData& data, const std::array<LightRange, 2>& rows) {
  sums_.resize(data.rows());
  for (const LightRange& range : rows) {
    for (std::size_t i = range.first; i < range.last; ++i) {
      sums_[i] = Sums{data.weight[i] * data.y[i], data.weight[i]};
    }
  }
  histogram_[0].assign(data.columns, Histogram{});
  for (std::size_t j = 0; j < data.columns; ++j) {
    const std::uint8_t* bin = data.column(j);
    Sums* histogram = histogram_[0][j].data();
    for (const LightRange& range : rows) {
      for (std::size_t i = range.first; i < range.last; ++i) histogram[bin[i]] += sums_[i];
    }
  }
}

/// Counts the smaller side; the other is the rest.
void LightGrower::count_sides(const LightData& data, const LightTree::Split& split,
                              const std::array<LightRange, 2>& rows) {
  const std::uint8_t* by = data.column(split.column);
  std::size_t all = 0;
  std::size_t below = 0;
  for (const LightRange& range : rows) {
    for (std::size_t i = range.first; i < range.last; ++i) below += by[i] < split.bin ? 1U : 0U;
    all += range.last - range.first;
  }
  const std::size_t side = 2 * below <= all ? 0 : 1;
  counted_.resize(all);
  std::size_t count = 0;
  for (const LightRange& range : rows) {
    for (std::size_t i = range.first; i < range.last; ++i) {
      counted_[count] = static_cast<std::uint32_t>(i);
      count += (by[i] < split.bin ? 0U : 1U) == side ? 1U : 0U;
    }
  }
  std::vector<Histogram>& whole = histogram_[1 - side];
  if (side == 1) {
    histogram_[1].assign(data.columns, Histogram{});
  } else {
    histogram_[1] = std::move(histogram_[0]);
    histogram_[0].assign(data.columns, Histogram{});
  }
  for (std::size_t j = 0; j < data.columns; ++j) {
    const std::uint8_t* bin = data.column(j);
    Sums* histogram = histogram_[side][j].data();
    for (std::size_t k = 0; k < count; ++k) histogram[bin[counted_[k]]] += sums_[counted_[k]];
    for (std::size_t b = 0; b < BinnedRows::kMaxBins; ++b) whole[j][b] -= histogram[b];
  }
}

LightGrower::Found LightGrower::best_split(std::size_t columns, std::size_t side,
                                           double min_leaf) const {
  Found best;
  for (std::size_t j = 0; j < columns; ++j) {
    const Histogram& histogram = histogram_[side][j];
    double all_y = 0.0;
    double all_weight = 0.0;
    for (const Sums& sums : histogram) {
      all_y += static_cast<double>(sums[0]);
      all_weight += static_cast<double>(sums[1]);
    }
    if (all_weight < 2.0 * min_leaf) return best;
    const double whole = all_y * all_y / all_weight;
    double y = 0.0;
    double weight = 0.0;
    for (std::uint32_t bin = 1; bin < BinnedRows::kMaxBins; ++bin) {
      const Sums& added = histogram[bin - 1];
      if (!(added[1] > 0.0F)) continue;  // the same two sides as before
      y += static_cast<double>(added[0]);
      weight += static_cast<double>(added[1]);
      if (weight < min_leaf) continue;
      if (all_weight - weight < min_leaf) break;
      const double rest = all_y - y;
      const double gain = y * y / weight + rest * rest / (all_weight - weight) - whole;
      // Below this it is rounding: sums of a column's bins differ from another's in their last
      // digits.
      if (gain > best.gain * (1.0 + 1e-6) && gain > 1e-6 * whole) {
        best = {{static_cast<std::uint32_t>(j), bin}, gain};
      }
    }
  }
  return best;
}

void find_leaves(const LightTree& tree, const LightData& data, std::size_t first,
                 std::span<std::uint8_t> leaf) {
  const std::uint8_t* root = data.column(tree.root.column) + first;
  const std::uint8_t* left = data.column(tree.child[0].column) + first;
  const std::uint8_t* right = data.column(tree.child[1].column) + first;
  // In bytes throughout, so that many rows fit a vector: the last bin that goes left.
  const auto last = [](const LightTree::Split& split) {
    return static_cast<std::uint8_t>(split.bin - 1);
  };
  const std::uint8_t last_root = last(tree.root);
  const std::uint8_t last_left = last(tree.child[0]);
  const std::uint8_t last_right = last(tree.child[1]);
  std::uint8_t* out = leaf.data();
  const std::size_t rows = leaf.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint8_t below = left[i] > last_left ? 1 : 0;
    const std::uint8_t above = right[i] > last_right ? 3 : 2;
    out[i] = root[i] > last_root ? above : below;
  }
}

LightTree LightGrower::grow(const LightData& data, const std::array<LightRange, 2>& rows,
                            double min_leaf) {
  LightTree tree;
  count(data, rows);
  tree.root = best_split(data.columns, 0, min_leaf).split;
  if (tree.root.bin == LightTree::kNoSplit) return tree;
  count_sides(data, tree.root, rows);
  for (std::size_t side = 0; side < 2; ++side) {
    tree.child[side] = best_split(data.columns, side, min_leaf).split;
  }
  return tree;
}

}  // namespace tare
