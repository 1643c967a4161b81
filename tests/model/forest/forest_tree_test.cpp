// SPDX-License-Identifier: BSD-3-Clause
#include "model/forest/forest_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "draws.h"

namespace tare {
namespace {

struct ForestRows {
  std::size_t cols = 1;
  std::vector<float> x, y, weight;

  std::size_t rows() const { return y.size(); }
  float at(std::size_t row, std::size_t column) const { return x[row * cols + column]; }
};

/// Few values in some columns, so that there are ties; some rows are not drawn, some twice.
ForestRows draw_forest_rows(std::size_t rows, std::size_t cols, Rng& rng) {
  ForestRows drawn{cols, {}, {}, {}};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      const double value = rng.normal();
      drawn.x.push_back(static_cast<float>(j % 2 == 0 ? value : std::round(value)));
    }
    drawn.y.push_back(static_cast<float>(rng.normal() + (drawn.x[i * cols] > 0.3F ? 2.0 : 0.0)));
    drawn.weight.push_back(static_cast<float>(rng.below(4)));
  }
  drawn.weight[rng.below(rows)] = 1.0F;
  return drawn;
}

/// The squared error of one weighted mean for all of these rows.
double squared_error(const ForestRows& data, const std::vector<std::size_t>& rows) {
  double weight = 0.0, sum = 0.0, error = 0.0;
  for (const std::size_t i : rows) {
    weight += static_cast<double>(data.weight[i]);
    sum += static_cast<double>(data.weight[i]) * static_cast<double>(data.y[i]);
  }
  for (const std::size_t i : rows) {
    error += static_cast<double>(data.weight[i]) *
             std::pow(static_cast<double>(data.y[i]) - sum / weight, 2);
  }
  return error;
}

/// The least squared error after any split that leaves `min_leaf` rows on either side, by trying
/// all; negative where there is none.
double best_error(const ForestRows& data, const std::vector<std::size_t>& rows,
                  std::size_t min_leaf) {
  double best = -1.0;
  for (std::size_t j = 0; j < data.cols; ++j) {
    for (const std::size_t at : rows) {
      std::vector<std::size_t> left, right;
      for (const std::size_t i : rows) {
        (data.at(i, j) < data.at(at, j) ? left : right).push_back(i);
      }
      if (left.size() < min_leaf || right.size() < min_leaf || left.empty()) continue;
      const double error = squared_error(data, left) + squared_error(data, right);
      if (best < 0.0 || error < best) best = error;
    }
  }
  return best;
}

void check_node(const ForestRows& data, const TreeNodes& tree, std::size_t node,
                const std::vector<std::size_t>& rows, std::size_t min_leaf) {
  const double whole = squared_error(data, rows);
  const double best = best_error(data, rows, min_leaf);
  const TreeNode& own = tree.node[node];
  if (own.feature < 0) {
    EXPECT_TRUE(best < 0.0 || whole < 1e-9) << rows.size() << " rows were not split";
    return;
  }
  std::vector<std::size_t> left, right;
  for (const std::size_t i : rows) {
    (data.at(i, static_cast<std::size_t>(own.feature)) < own.value ? left : right).push_back(i);
  }
  ASSERT_GE(left.size(), min_leaf);
  ASSERT_GE(right.size(), min_leaf);
  const double error = squared_error(data, left) + squared_error(data, right);
  EXPECT_NEAR(error, best, 1e-5 * (1.0 + whole));  // sums of floats
  check_node(data, tree, static_cast<std::size_t>(own.left), left, min_leaf);
  check_node(data, tree, static_cast<std::size_t>(own.right), right, min_leaf);
}

TEST(ForestTree, EverySplitIsTheBestOfAll) {
  for (std::uint64_t seed = 0; seed < draws(100); ++seed) {
    Rng rng(Seed{seed});
    const std::size_t rows = 5 + rng.below(60);
    const std::size_t min_leaf = 1 + rng.below(4);
    const ForestRows data = draw_forest_rows(rows, 1 + rng.below(4), rng);
    const SortedColumns sorted(data.x, data.cols, {});
    const TreeNodes tree =
        grow_forest_tree(sorted, data.y, data.weight, {min_leaf, data.cols}, rng);
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < rows; ++i) {
      if (data.weight[i] > 0.0F) drawn.push_back(i);
    }
    SCOPED_TRACE(seed);
    check_node(data, tree, 0, drawn, min_leaf);
  }
}

TEST(ForestTree, AThresholdLiesHalfwayBetweenTwoValues) {
  const std::vector<float> x = {0.0F, 1.0F, 3.0F, 4.0F};
  const std::vector<float> y = {0.0F, 0.0F, 1.0F, 1.0F};
  const std::vector<float> weight(4, 1.0F);
  const TreeNodes tree = grow_forest_tree(SortedColumns(x, 1, {}), y, weight, {1, 1}, Rng(Seed{1}));
  ASSERT_EQ(tree.node.size(), 3U);
  EXPECT_EQ(tree.node[0].value, 2.0F);
}

TEST(ForestTree, TriesSomeColumnsAtEachNodeAndAllOfThemOverTheForest) {
  Rng rng(Seed{5});
  ForestRows data = draw_forest_rows(200, 6, rng);
  const SortedColumns sorted(data.x, 6, {});
  std::set<std::int32_t> at_root;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const TreeNodes tree = grow_forest_tree(sorted, data.y, data.weight, {5, 1}, Rng(Seed{seed}));
    at_root.insert(tree.node[0].feature);
  }
  EXPECT_EQ(at_root.size(), 6U);  // one of 60 draws misses a given column with probability 2e-5
}

TEST(ForestTree, TargetsThatGrowWithoutBoundDoNotMakeItDeep) {
  std::vector<float> x, y;
  for (std::size_t i = 0; i < 120; ++i) {
    x.push_back(static_cast<float>(i));
    y.push_back(std::ldexp(1.0F, 2 * static_cast<int>(i) - 120));  // the largest is split off
  }
  const TreeNodes tree = grow_forest_tree(SortedColumns(x, 1, {}), y, std::vector<float>(120, 1.0F),
                                          {1, 1}, Rng(Seed{1}));
  std::vector<std::size_t> depth(tree.node.size(), 0);
  for (std::size_t k = 0; k < tree.node.size(); ++k) {
    if (tree.node[k].feature < 0) continue;
    depth[static_cast<std::size_t>(tree.node[k].left)] = depth[k] + 1;
    depth[static_cast<std::size_t>(tree.node[k].right)] = depth[k] + 1;
  }
  EXPECT_EQ(std::ranges::max(depth), 64U);
}

TEST(SortedColumns, OrdersEveryColumn) {
  Rng rng(Seed{2});
  std::vector<float> x;
  for (std::size_t i = 0; i < 300; ++i) {
    x.push_back(static_cast<float>(rng.normal()));
    x.push_back(static_cast<float>(static_cast<int>(rng.below(5)) - 2));
  }
  x[1] = -0.0F;
  const SortedColumns sorted(x, 2, {});
  for (std::size_t j = 0; j < 2; ++j) {
    const auto order = sorted.order(j);
    const auto values = sorted.values(j);
    for (std::size_t k = 1; k < 300; ++k) {
      const float before = values[order[k - 1]];
      const float here = values[order[k]];
      EXPECT_TRUE(before < here || (before == here && order[k - 1] < order[k])) << k;
    }
  }
}

}  // namespace
}  // namespace tare
