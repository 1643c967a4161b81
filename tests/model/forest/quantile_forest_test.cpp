// SPDX-License-Identifier: BSD-3-Clause
#include "model/forest/quantile_forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "../sample.h"
#include "draws.h"
#include "expect_error.h"
#include "io/tensor_store.h"
#include "math/weighted_quantile.h"

namespace tare {
namespace {

std::vector<Level> asked_levels() {
  std::vector<Level> levels;
  for (const double tau : {1e-6, 0.01, 0.1, 0.25, 0.5, 0.8, 0.95, 0.99, 0.999999}) {
    levels.emplace_back(tau);
  }
  return levels;
}

Matrix forest_quantiles(const QuantileForest& forest, MatrixView x, std::span<const Level> levels) {
  Matrix out(x.rows(), levels.size());
  forest.predict(x, levels, out, {});
  return out;
}

/// How often tree t draws each row: as fit does, n times with replacement from its own stream.
std::vector<double> times_drawn(std::size_t rows, Seed seed, std::size_t t) {
  std::vector<double> times(rows, 0.0);
  Rng rng(split(seed, t));
  for (std::size_t k = 0; k < rows; ++k) times[rng.below(rows)] += 1.0;
  return times;
}

/// Meinshausen's weights of all training rows at one query, as he writes them: over trees, the
/// row's share of the leaf that it has in common with the query.
std::vector<double> paper_weights(const TreeEnsemble& trees, const Sample& train,
                                  std::span<const double> query, LeafRowsRule rule, Seed seed) {
  const std::size_t rows = train.y.size(), count = trees.trees();
  std::vector<std::int32_t> own(rows * count), asked(count);
  trees.leaves(train.x, own, {});
  Matrix one(1, query.size());
  std::ranges::copy(query, one.row(0).begin());
  trees.leaves(one, asked, {});
  std::vector<double> weights(rows, 0.0);
  for (std::size_t t = 0; t < count; ++t) {
    const std::vector<double> times =
        rule == LeafRowsRule::kAll ? std::vector<double>(rows, 1.0) : times_drawn(rows, seed, t);
    const auto in_leaf = [&](std::size_t i) {
      const double weight = train.weight.empty() ? 1.0 : train.weight[i];
      return own[i * count + t] == asked[t] ? times[i] * weight : 0.0;
    };
    double sum = 0.0;
    for (std::size_t i = 0; i < rows; ++i) sum += in_leaf(i);
    for (std::size_t i = 0; i < rows; ++i) {
      weights[i] += in_leaf(i) / sum / static_cast<double>(count);
    }
  }
  return weights;
}

TEST(QuantileForest, AnswersWithTheQuantilesOfThePapersWeights) {
  const std::vector<Level> levels = asked_levels();
  for (std::uint64_t seed = 0; seed < draws(30); ++seed) {
    Rng rng(Seed{seed});
    Sample train = make_sample(20 + rng.below(300), 1 + rng.below(4), Seed{seed + 100});
    if (seed % 3 == 1) {
      for (double& y : train.y) y = std::round(y);  // ties
    }
    if (seed % 2 == 1) {
      for (std::size_t i = 0; i < train.y.size(); ++i) train.weight.push_back(0.1 + rng.uniform());
    }
    const QuantileForestOptions options{
        .trees = 1 + rng.below(20),
        .min_leaf = 1 + rng.below(8),
        .leaf_rows = seed % 4 < 2 ? LeafRowsRule::kDrawn : LeafRowsRule::kAll};
    const QuantileForest forest = QuantileForest::fit(train.data(), options, Seed{seed}, {});
    const Sample queries = make_sample(10, train.x.cols(), Seed{seed + 200});
    const Matrix answers = forest_quantiles(forest, queries.x, levels);
    for (std::size_t i = 0; i < 10; ++i) {
      const auto weights =
          paper_weights(forest.structure(), train, queries.x.row(i), options.leaf_rows, Seed{seed});
      for (std::size_t j = 0; j < levels.size(); ++j) {
        EXPECT_EQ(answers(i, j), weighted_quantile(train.y, weights, levels[j]))
            << "seed " << seed << ", query " << i << ", level " << levels[j].value();
      }
    }
  }
}

TEST(QuantileForest, OneLeafIsTheSampleItself) {
  const Sample train = make_sample(50, 2, Seed{1});
  const QuantileForest forest = QuantileForest::fit(
      train.data(), {.trees = 7, .min_leaf = 50, .leaf_rows = LeafRowsRule::kAll}, Seed{1}, {});
  for (const Level& level : asked_levels()) {
    const Matrix answer = forest_quantiles(forest, train.x.view().middle_rows(0, 1), {&level, 1});
    EXPECT_EQ(answer(0, 0), weighted_quantile(train.y, {}, level));
  }
}

TEST(QuantileForest, EqualWeightsChangeNothing) {
  Sample train = make_sample(200, 3, Seed{4});
  const QuantileForestOptions options{.trees = 10};
  const auto levels = asked_levels();
  const Matrix without =
      forest_quantiles(QuantileForest::fit(train.data(), options, Seed{1}, {}), train.x, levels);
  train.weight.assign(200, 3.5);
  const Matrix with =
      forest_quantiles(QuantileForest::fit(train.data(), options, Seed{1}, {}), train.x, levels);
  EXPECT_TRUE(std::ranges::equal(without.values(), with.values()));
}

TEST(QuantileForest, WithoutColumnsItIsTheSample) {
  const Sample train{Matrix(30, 0), make_sample(30, 1, Seed{2}).y, {}};
  const QuantileForest forest = QuantileForest::fit(train.data(), {}, Seed{1}, {});
  EXPECT_EQ(forest.trees(), 1U);
  const Level median(0.5);
  EXPECT_EQ(forest_quantiles(forest, Matrix(2, 0), {&median, 1})(1, 0),
            weighted_quantile(train.y, {}, median));
}

TEST(QuantileForest, DamagedFilesAreRefused) {
  Sample train = make_sample(60, 2, Seed{3});
  for (std::size_t i = 0; i < 60; ++i) train.weight.push_back(1.0 + static_cast<double>(i % 2));
  TensorStore store;
  QuantileForest::fit(train.data(), {.trees = 3}, Seed{1}, {}).save(TensorWriter(store));
  EXPECT_NO_THROW(QuantileForest::load(TensorReader(store)));
  const auto refused = [&](const std::function<void(TensorStore&)>& damage) {
    TensorStore damaged = store;
    damage(damaged);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { QuantileForest::load(TensorReader(damaged)); });
  };
  const auto change = [](TensorStore& s, const char* name, auto what) {
    using T = decltype(what);
    const TensorReader in(s);
    const Shape shape = in.shape(name);
    std::vector<T> values = in.values<T>(name, shape);
    values[1] = what;
    s.tensors.erase(name);
    TensorWriter(s).tensor<T>(name, std::span<const T>(values), shape);
  };
  refused([&](TensorStore& s) { change(s, "rank", std::int32_t{-1}); });
  refused([&](TensorStore& s) { change(s, "rank", std::int32_t{60}); });
  refused([&](TensorStore& s) { change(s, "leaf_rows", std::int32_t{0}); });
  refused([&](TensorStore& s) { change(s, "leaf_rows", std::int32_t{1'000'000'000}); });
  refused([&](TensorStore& s) { change(s, "target", 1e9); });
  refused([&](TensorStore& s) { change(s, "target", std::nan("")); });
  refused([&](TensorStore& s) { change(s, "weight", 0.0F); });
  for (const char* name : {"rank", "leaf_rows", "target", "weight", "trees.root"}) {
    refused([&](TensorStore& s) { s.tensors.erase(name); });
    refused([&](TensorStore& s) {
      s.tensors.erase(name);
      if (std::string(name) == "target" || std::string(name) == "weight") {
        TensorWriter(s).tensor(name, std::vector<double>{1.0, 2.0});
      } else {
        TensorWriter(s).tensor(name, std::vector<std::int32_t>{0, 1});
      }
    });
  }
}

TEST(QuantileForest, RefusesShapesThatDoNotFit) {
  const Sample train = make_sample(30, 2, Seed{3});
  const QuantileForest forest = QuantileForest::fit(train.data(), {.trees = 2}, Seed{1}, {});
  const Level median(0.5);
  Matrix out(3, 1);
  expect_error(ErrorCode::kShapeMismatch, "features", [&] {
    forest.predict(Matrix(3, 1), {&median, 1}, out, {});
  });
  expect_error(ErrorCode::kShapeMismatch, "places", [&] {
    forest.predict(Matrix(2, 2), {&median, 1}, out, {});
  });
}

}  // namespace
}  // namespace tare
