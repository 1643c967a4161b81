// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/light_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tare/base/rng.h"

namespace tare {
namespace {

struct LightCase {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> weight;
  std::vector<std::uint8_t> bins;  // column after column

  BinnedRows binned(std::size_t columns) const { return {x, columns, {}}; }
  LightData data(std::size_t columns) const { return {bins, columns, y, weight}; }
};

LightCase light_case(Rng& rng, std::size_t rows, std::size_t columns, bool weighted) {
  LightCase c;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      c.x.push_back(j == 0 ? static_cast<float>(rng.below(3)) : static_cast<float>(rng.normal()));
    }
    c.y.push_back(static_cast<float>(rng.normal() + (c.x.back() > 0.3F ? 2.0 : 0.0)));
    c.weight.push_back(weighted ? static_cast<float>(rng.below(4)) : 1.0F);
  }
  const BinnedRows binned = c.binned(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    c.bins.insert(c.bins.end(), binned.column(j).begin(), binned.column(j).end());
  }
  return c;
}

/// By how much a split of the rows in `inside` lowers the squared error; negative where a side has
/// too little weight.
double gain_of(const LightCase& c, const std::vector<bool>& inside, const LightTree::Split& split,
               double min_leaf) {
  const std::uint8_t* bin = c.bins.data() + split.column * c.y.size();
  double sum[2] = {0.0, 0.0};
  double weight[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < c.y.size(); ++i) {
    if (!inside[i]) continue;
    const int side = bin[i] < split.bin ? 0 : 1;
    sum[side] += static_cast<double>(c.weight[i]) * static_cast<double>(c.y[i]);
    weight[side] += static_cast<double>(c.weight[i]);
  }
  if (weight[0] < min_leaf || weight[1] < min_leaf) return -1.0;
  const double all = sum[0] + sum[1];
  return sum[0] * sum[0] / weight[0] + sum[1] * sum[1] / weight[1] -
         all * all / (weight[0] + weight[1]);
}

double best_gain(const LightCase& c, const std::vector<bool>& inside, const BinnedRows& binned,
                 double min_leaf) {
  double best = 0.0;
  for (std::uint32_t j = 0; j < binned.cols(); ++j) {
    for (std::uint32_t bin = 1; bin < binned.bins(j); ++bin) {
      best = std::max(best, gain_of(c, inside, {j, bin}, min_leaf));
    }
  }
  return best;
}

TEST(LightTree, SplitsWhereTheErrorFallsMost) {
  Rng rng(Seed{5});
  LightGrower grower;
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t rows = 30 + rng.below(400);
    const LightCase c = light_case(rng, rows, 3, trial % 2 == 1);
    const BinnedRows binned = c.binned(3);
    const double min_leaf = trial % 3 == 0 ? 1.0 : 10.0;
    // A stretch that goes on at the front, as a boosting draws it.
    const std::size_t first = rng.below(rows);
    const std::size_t count = trial % 4 == 0 ? rows : 1 + rng.below(rows);
    const std::size_t last = std::min(rows, first + count);
    const std::size_t rest = count - (last - first);
    std::vector<bool> drawn(rows, false);
    for (std::size_t i = 0; i < rows; ++i) drawn[i] = (i >= first && i < last) || i < rest;
    const LightTree tree =
        grower.grow(c.data(3), {LightRange{first, last}, LightRange{0, rest}}, min_leaf);
    const double best = best_gain(c, drawn, binned, min_leaf);
    // Sums of floats: a split is right when its gain is the best but for rounding.
    const auto expect_best = [&](const LightTree::Split& split, const std::vector<bool>& inside) {
      const double most = best_gain(c, inside, binned, min_leaf);
      const double got =
          split.bin == LightTree::kNoSplit ? 0.0 : gain_of(c, inside, split, min_leaf);
      EXPECT_NEAR(got, most, 1e-3 * (1.0 + best)) << "trial " << trial;
    };
    expect_best(tree.root, drawn);
    if (tree.root.bin == LightTree::kNoSplit) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      std::vector<bool> part = drawn;
      for (std::size_t i = 0; i < rows; ++i) {
        const bool right = c.bins[tree.root.column * rows + i] >= tree.root.bin;
        part[i] = part[i] && right == (side == 1);
      }
      expect_best(tree.child[side], part);
    }
  }
}

TEST(LightTree, ItsNodesSayTheSame) {
  Rng rng(Seed{6});
  for (int trial = 0; trial < 40; ++trial) {
    const LightCase c = light_case(rng, 200, 3, false);
    const BinnedRows binned = c.binned(3);
    LightTree tree;
    const auto some_split = [&]() -> LightTree::Split {
      const auto column = static_cast<std::uint32_t>(rng.below(3));
      const auto bin = 1 + static_cast<std::uint32_t>(rng.below(binned.bins(column) - 1));
      return rng.uniform() < 0.3 ? LightTree::Split{} : LightTree::Split{column, bin};
    };
    tree.root = some_split();
    tree.child = {some_split(), some_split()};
    for (float& leaf : tree.leaf) leaf = static_cast<float>(rng.normal());
    if (tree.root.bin == LightTree::kNoSplit) tree.child[0] = {};
    const TreeEnsemble ensemble(tree.nodes(binned), {{0, 0, 0}, {1, 1, 1}}, {0.0, 1.0, 0.0});
    Matrix x(200, 3);
    for (std::size_t i = 0; i < c.x.size(); ++i) x.values()[i] = static_cast<double>(c.x[i]);
    std::vector<double> predicted(200);
    ensemble.predict(x, predicted, {});
    std::vector<std::uint8_t> leaf(150);
    find_leaves(tree, c.data(3), 50, leaf);
    for (std::size_t i = 0; i < leaf.size(); ++i) {
      EXPECT_EQ(predicted[50 + i], static_cast<double>(tree.leaf[leaf[i]])) << "trial " << trial;
    }
  }
}

}  // namespace
}  // namespace tare
