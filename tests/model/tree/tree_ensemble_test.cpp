// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/tree_ensemble.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "io/tensor_store.h"
#include "model/sample.h"
#include "tare/base/error.h"

namespace tare {
namespace {

/// A random tree with children after parents, in depth-first order.
std::int32_t grow(TreeNodes& trees, std::size_t features, int depth, Rng& rng) {
  const auto here = static_cast<std::int32_t>(trees.node.size());
  trees.node.push_back({-1, static_cast<float>(rng.uniform(-1.0, 1.0)), 0, 0});
  if (depth == 0 || rng.uniform() < 0.2) return here;
  const std::int32_t left = grow(trees, features, depth - 1, rng);
  const std::int32_t right = grow(trees, features, depth - 1, rng);
  trees.node[static_cast<std::size_t>(here)] = {static_cast<std::int32_t>(rng.below(features)),
                                                static_cast<float>(rng.uniform(-2.0, 2.0)), left,
                                                right};
  return here;
}

TreeNodes random_trees(std::size_t count, std::size_t features, Seed seed, int depth = 5) {
  TreeNodes trees;
  Rng rng(seed);
  for (std::size_t t = 0; t < count; ++t) {
    const std::int32_t root = grow(trees, features, depth, rng);
    trees.root.push_back(root);
  }
  return trees;
}

FloatColumns unchanged(std::size_t features) {
  return {std::vector<double>(features, 0.0), std::vector<double>(features, 1.0)};
}

std::int32_t walk(const TreeNodes& trees, std::int32_t at, std::span<const double> row) {
  const TreeNode& node = trees.node[static_cast<std::size_t>(at)];
  if (node.feature < 0) return at;
  const auto value = static_cast<float>(row[static_cast<std::size_t>(node.feature)]);
  return walk(trees, value < node.value ? node.left : node.right, row);
}

TEST(TreeEnsemble, PredictsAndNamesLeavesAsARecursiveWalkDoes) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    // Trees of at most two splits to a leaf go another way, but for one that is larger.
    TreeNodes trees = random_trees(seed % 4 == 1 ? 6 : 7, 3, Seed{seed}, seed % 4 == 0 ? 5 : 2);
    if (seed % 4 == 1) trees.append(random_trees(1, 3, Seed{seed}));
    Sample sample = make_sample(600, 3, Seed{seed + 50});
    sample.x(0, 0) = std::numeric_limits<double>::infinity();
    sample.x(1, 1) = -std::numeric_limits<double>::infinity();
    sample.x(2, 2) = std::numeric_limits<double>::quiet_NaN();
    sample.x(3, 0) = 1e300;  // beyond float
    const TreeEnsemble ensemble(trees, unchanged(3), {10.0, 2.0, 0.5});
    std::vector<std::int32_t> leaves(600 * 7);
    ensemble.leaves(sample.x, leaves, Execution{});
    const auto actual = predictions(ensemble, sample.x, 2);
    for (std::size_t i = 0; i < 600; ++i) {
      double sum = 0.5;
      for (std::size_t t = 0; t < 7; ++t) {
        const std::int32_t leaf = walk(trees, trees.root[t], sample.x.row(i));
        EXPECT_EQ(leaves[i * 7 + t], leaf);
        sum += static_cast<double>(trees.node[static_cast<std::size_t>(leaf)].value);
      }
      EXPECT_EQ(actual[i], 10.0 + 2.0 * sum);
    }
  }
}

TEST(TreeEnsemble, AValueEqualToTheThresholdGoesRight) {
  const TreeNodes trees{{{0, 0.1F, 1, 2}, {-1, -1.0F, 0, 0}, {-1, 1.0F, 0, 0}}, {0}};
  const TreeEnsemble ensemble(trees, unchanged(1), {});
  const double at = static_cast<double>(0.1F);
  const Matrix x({at, 0.1, std::nextafter(0.1F, 0.0F)}, 3, 1);  // 0.1 rounds to 0.1F
  EXPECT_EQ(predictions(ensemble, x), (std::vector<double>{1.0, 1.0, -1.0}));
}

TEST(TreeEnsemble, AppendedTreesPredictTheSum) {
  TreeNodes both = random_trees(3, 2, Seed{1});
  const TreeNodes second = random_trees(4, 2, Seed{2});
  const TreeEnsemble first(both, unchanged(2), {});
  both.append(second);
  const Sample sample = make_sample(100, 2, Seed{3});
  const auto a = predictions(first, sample.x);
  const auto b = predictions(TreeEnsemble(second, unchanged(2), {}), sample.x);
  const auto sum = predictions(TreeEnsemble(both, unchanged(2), {}), sample.x);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(sum[i], a[i] + b[i], 1e-12);
}

TEST(FloatColumns, KeepApartWhatFloatAloneWouldNot) {
  Matrix x(100, 3);
  for (std::size_t i = 0; i < 100; ++i) {
    x(i, 0) = 1.7e9 + static_cast<double>(i);
    x(i, 1) = std::pow(10.0, static_cast<double>(i) / 10.0 - 5.0);  // a shift would spoil this one
    x(i, 2) = 1e300 * (1.0 + static_cast<double>(i));
  }
  const FloatColumns columns = FloatColumns::learn(x, Execution{});
  const auto floats = columns.convert_all(x);
  for (std::size_t k = 3; k < floats.size(); ++k) EXPECT_LT(floats[k - 3], floats[k]) << k;
}

/// A small sound model, one change to it, and the error that loading must give.
void expect_corrupt(const char* what, const std::function<void(const TensorWriter&)>& damage) {
  const TreeNodes trees{{{0, 0.0F, 1, 2},
                         {-1, 1.0F, 0, 0},
                         {1, 0.0F, 3, 4},
                         {-1, 2.0F, 0, 0},
                         {-1, 3.0F, 0, 0},
                         {-1, 4.0F, 0, 0}},
                        {0, 5}};
  TensorStore store;
  TreeEnsemble(trees, unchanged(2), {}).save(TensorWriter(store));
  EXPECT_NO_THROW(load_trees(TensorReader(store))) << what;
  damage(TensorWriter(store));
  try {
    load_trees(TensorReader(store));
    ADD_FAILURE() << what << ": nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorruptFile) << what;
  }
}

using Ints = std::vector<std::int32_t>;

TEST(TreeEnsemble, DamagedFilesAreRejected) {
  const auto ints = [](const char* name, Ints values) {
    return [=](const TensorWriter& out) { out.tensor(name, values); };
  };
  const auto number = [](const char* name, Json value) {
    return [=](const TensorWriter& out) { out.value(name, value); };
  };
  expect_corrupt("child before parent", ints("left", {1, 0, 0, 0, 0, 0}));
  expect_corrupt("child is parent", ints("right", {2, 0, 2, 0, 0, 0}));
  expect_corrupt("child outside", ints("right", {2, 0, 99, 0, 0, 0}));
  expect_corrupt("child negative", ints("left", {-1, 0, 3, 0, 0, 0}));
  expect_corrupt("child in the next tree", ints("right", {2, 0, 5, 0, 0, 0}));
  expect_corrupt("feature too large", ints("feature", {2, -1, 1, -1, -1, -1}));
  expect_corrupt("feature below -1", ints("feature", {-2, -1, 1, -1, -1, -1}));
  expect_corrupt("lists of two lengths", ints("left", {1, 0, 3}));
  expect_corrupt("roots out of order", ints("root", {5, 0}));
  expect_corrupt("root repeated", ints("root", {0, 0}));
  expect_corrupt("root outside", ints("root", {0, 6}));
  expect_corrupt("root negative", ints("root", {0, -1}));
  expect_corrupt("first nodes in no tree", ints("root", {5}));
  expect_corrupt("no roots", ints("root", {}));
  expect_corrupt("wrong number of features", number("features", 3U));
  expect_corrupt("features is text", number("features", "two"));
  expect_corrupt("scale missing its number", number("scale", nullptr));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    expect_corrupt("value not finite", [=](const TensorWriter& out) {
      out.tensor("value", std::vector<float>{0.0F, 1.0F, bad, 2.0F, 3.0F, 4.0F});
    });
    expect_corrupt("column shift not finite", [=](const TensorWriter& out) {
      out.tensor("column_shift", std::vector<double>{0.0, static_cast<double>(bad)});
    });
  }
}

}  // namespace
}  // namespace tare
