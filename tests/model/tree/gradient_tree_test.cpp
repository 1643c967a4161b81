// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/gradient_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tare/base/rng.h"

namespace tare {
namespace {

TEST(BinnedRows, ARowIsBelowAnEdgeJustWhenItsBinIs) {
  Rng rng(Seed{1});
  std::vector<float> x;
  for (int i = 0; i < 3000; ++i) {
    x.push_back(static_cast<float>(rng.normal()));
    x.push_back(static_cast<float>(rng.below(7)));                // few values
    x.push_back(static_cast<float>(rng.below(20) == 0 ? i : 0));  // mostly one value
    x.push_back(5.0F);                                            // one value
    x.push_back(i % 2 == 0 ? 1.0F : std::nextafter(1.0F, 2.0F));  // no float lies between
  }
  const BinnedRows binned(x, 5, {});
  ASSERT_EQ(binned.rows(), 3000U);
  for (std::size_t j = 0; j < 5; ++j) {
    ASSERT_LE(binned.bins(j), BinnedRows::kMaxBins);
    for (std::size_t bin = 1; bin < binned.bins(j); ++bin) {
      for (std::size_t i = 0; i < binned.rows(); i += 11) {
        ASSERT_EQ(binned.column(j)[i] < bin, x[i * 5 + j] < binned.edge(j, bin)) << j;
      }
    }
  }
  EXPECT_EQ(binned.bins(1), 7U);
  EXPECT_EQ(binned.bins(3), 1U);
  EXPECT_EQ(binned.bins(4), 2U);
  std::map<std::uint8_t, int> size;
  for (const std::uint8_t bin : binned.column(0)) ++size[bin];
  EXPECT_GT(size.size(), 200U);
  for (const auto& [bin, rows] : size) EXPECT_LT(rows, 3 * 3000 / 256 + 3) << int{bin};
}

/// Rows with two columns of few values, so that every value is an edge, and three outputs.
struct Example {
  std::vector<float> x;
  std::vector<float> gradients;
  std::vector<std::size_t> rows;
  BinnedRows binned() const { return {x, 2, {}}; }
};

Example make_example(std::uint64_t seed, std::size_t count) {
  Example example;
  Rng rng(Seed{seed});
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<float>(rng.below(9)), b = static_cast<float>(rng.below(5));
    example.x.insert(example.x.end(), {a, b});
    const auto weight = static_cast<float>(1 + rng.below(3));
    const float shift = a > 3.0F ? 0.5F : 0.0F;
    for (int k = 0; k < 3; ++k) {
      example.gradients.push_back(weight * (shift + static_cast<float>(rng.normal())));
    }
    example.gradients.push_back(weight);
    if (rng.below(4) > 0) example.rows.push_back(i);
  }
  return example;
}

/// By how much a split lowers the weighted squared error around the means, in double, from the
/// definition; -1 where a side weighs less than min_leaf.
double oracle_gain(const Example& e, std::size_t column, float threshold, double min_leaf) {
  const auto error = [&](int side) {
    double weight = 0.0, total = 0.0;
    for (int k = 0; k < 3; ++k) {
      double sum = 0.0;
      weight = 0.0;
      for (const std::size_t i : e.rows) {
        if (side >= 0 && (e.x[i * 2 + column] < threshold) != (side == 0)) continue;
        sum += static_cast<double>(e.gradients[i * 4 + static_cast<std::size_t>(k)]);
        weight += static_cast<double>(e.gradients[i * 4 + 3]);
      }
      if (weight > 0.0) total += sum * sum / weight;
    }
    return std::pair{total, weight};
  };
  const auto [left, left_weight] = error(0);
  const auto [right, right_weight] = error(1);
  if (left_weight < min_leaf || right_weight < min_leaf) return -1.0;
  return left + right - error(-1).first;
}

TEST(GradientTree, TakesTheBestOfAllSplits) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Example e = make_example(seed, 150);
    const double min_leaf = 20.0;
    const TreeNodes tree = grow_tree(e.binned(), {e.gradients, 4}, e.rows, {1, min_leaf});
    double best = -1.0;
    for (std::size_t column = 0; column < 2; ++column) {
      for (float threshold = 0.5F; threshold < 9.0F; threshold += 1.0F) {
        best = std::max(best, oracle_gain(e, column, threshold, min_leaf));
      }
    }
    ASSERT_EQ(tree.node.size(), 3U);
    const TreeNode& root = tree.node[0];
    const double taken =
        oracle_gain(e, static_cast<std::size_t>(root.feature), root.value, min_leaf);
    EXPECT_NEAR(taken, best, 1e-4 * best);  // sums of floats
  }
}

TEST(GradientTree, KeepsToItsDepthAndItsLeastLeaf) {
  const Example e = make_example(99, 400);
  const BinnedRows binned = e.binned();
  for (const std::size_t depth : {0U, 1U, 2U, 5U}) {
    const TreeNodes tree = grow_tree(binned, {e.gradients, 4}, e.rows, {depth, 15.0});
    std::map<std::size_t, double> weight;
    std::size_t deepest = 0;
    for (const std::size_t i : e.rows) {
      std::size_t at = 0, steps = 0;
      for (; tree.node[at].feature >= 0; ++steps) {
        const TreeNode& node = tree.node[at];
        const float value = e.x[i * 2 + static_cast<std::size_t>(node.feature)];
        at = static_cast<std::size_t>(value < node.value ? node.left : node.right);
        ASSERT_LT(at, tree.node.size());
      }
      deepest = std::max(deepest, steps);
      weight[at] += static_cast<double>(e.gradients[i * 4 + 3]);
    }
    EXPECT_EQ(deepest, depth);  // there is something to find at every depth
    EXPECT_EQ(weight.size(), (tree.node.size() + 1) / 2);
    for (const auto& [leaf, held] : weight) EXPECT_GE(held, 15.0);
  }
}

TEST(GradientTree, WithNothingToFindIsOneLeaf) {
  Example e = make_example(5, 100);
  for (std::size_t i = 0; i < e.gradients.size(); ++i) {
    e.gradients[i] = i % 4 == 3 ? 1.0F : 0.1F;  // the same for every row
  }
  EXPECT_EQ(grow_tree(e.binned(), {e.gradients, 4}, e.rows, {4, 1.0}).node.size(), 1U);
  EXPECT_EQ(grow_tree(e.binned(), {e.gradients, 4}, {}, {4, 0.0}).node.size(), 1U);
  EXPECT_EQ(grow_tree(BinnedRows({}, 0, {}), {e.gradients, 4}, e.rows, {4, 1.0}).node.size(), 1U);
}

}  // namespace
}  // namespace tare
