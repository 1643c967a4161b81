// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/boosting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "model/tree/tree_training.h"

namespace tare {
namespace {

constexpr double kHeldOutShare = 0.15;
// Fewer rows than this cannot tell a good number of rounds from a bad one.
constexpr std::size_t kRowsToHoldOut = 50;
constexpr std::size_t kRoundsWithoutHeldOut = 100;

// Six splits are for interactions; with few columns there are none to find, and the noise is fitted
// instead: error on the paper's sine curve 0.12 with depth 6, 0.075 with depth 3.
std::size_t depth_option(const Params& params, std::size_t columns) {
  if (params.text("depth", "auto") == "auto") return std::min<std::size_t>(6, columns + 2);
  return params.count("depth", 6, 1, 30);
}

/// Some of the training rows, in the order given.
struct Part {
  std::vector<float> x, y, weight;

  Part(const TreeTraining& all, std::span<const std::size_t> rows) {
    const std::size_t cols = all.columns.shift.size();
    for (const std::size_t i : rows) {
      const auto first = all.x.begin() + static_cast<std::ptrdiff_t>(i * cols);
      x.insert(x.end(), first, first + static_cast<std::ptrdiff_t>(cols));
      y.push_back(all.y[i]);
      weight.push_back(all.weight[i]);
    }
  }
};

double loss(const std::vector<float>& predicted, const Part& part) {
  double sum = 0.0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double error = static_cast<double>(predicted[i]) - static_cast<double>(part.y[i]);
    sum += static_cast<double>(part.weight[i]) * error * error;
  }
  return sum;
}

struct Limits {
  std::size_t rounds = 0;
  std::size_t patience = 0;
};

TreeNodes boost_blindly(const TreeTraining& training, const BoosterParams& params,
                        std::size_t rounds) {
  const TreeRows rows(training.x, training.columns.shift.size(), training.y, training.weight);
  const TreeRows* const watched[] = {&rows};
  Booster booster(params, watched);
  for (std::size_t round = 0; round < rounds; ++round) booster.add_tree(rows);
  return booster.trees(rounds);
}

TreeNodes boost_and_watch(const TreeTraining& training, const BoosterParams& params, Limits limits,
                          Rng rng, const Execution& how) {
  const std::size_t total = training.y.size();
  const std::vector<std::size_t> order = random_permutation(total, rng);
  const auto held_out_rows = static_cast<std::size_t>(kHeldOutShare * static_cast<double>(total));
  const std::span<const std::size_t> all = order;
  const Part held_out(training, all.first(held_out_rows));
  const Part kept(training, all.subspan(held_out_rows));
  const std::size_t cols = training.columns.shift.size();
  const TreeRows train(kept.x, cols, kept.y, kept.weight);
  const TreeRows test(held_out.x, cols, held_out.y, held_out.weight);
  const TreeRows* const watched[] = {&train, &test};
  Booster booster(params, watched);

  std::size_t best = 0;
  double lowest = loss(std::vector<float>(held_out.y.size(), 0.0F), held_out);
  for (std::size_t round = 1; round <= limits.rounds && round - best <= limits.patience; ++round) {
    booster.add_tree(train);
    const double now = loss(booster.predict(test), held_out);
    if (now < lowest) {
      lowest = now;
      best = round;
    }
    if (how.progress) {
      how.progress("boosting", static_cast<double>(round) / static_cast<double>(limits.rounds));
    }
  }
  return booster.trees(best);
}

}  // namespace

std::unique_ptr<Regressor> fit_boosting(const RegressionData& data, const Params& params, Seed seed,
                                        const Execution& how) {
  check_fit_input("boosting", data, params, kBoostingOptions);
  const Limits limits{params.count("rounds", 2000, 1, 1'000'000),
                      params.count("patience", 50, 1, 1'000'000)};
  const double learning_rate = params.number("learning_rate", 0.05, 1e-6, 1.0);
  const std::size_t depth = depth_option(params, data.x.cols());
  const double min_leaf = params.number("min_leaf", 5.0, 0.0, 1e9);
  const double row_share = params.number("rows", 0.8, 1e-6, 1.0);
  const double column_share = params.number("columns", 1.0, 1e-6, 1.0);

  const TreeTraining training(data, how);
  if (training.trivial()) return training.constant();
  BoosterParams tree = tree_params({depth, min_leaf, TreeShape::Splits::kBinned, split(seed, 0)});
  tree.emplace_back("eta", fmt::to_string(learning_rate));
  tree.emplace_back("lambda", "1");
  tree.emplace_back("subsample", fmt::to_string(row_share));
  tree.emplace_back("colsample_bytree", fmt::to_string(column_share));
  TreeNodes trees =
      data.x.rows() < kRowsToHoldOut
          ? boost_blindly(training, tree, std::min(limits.rounds, kRoundsWithoutHeldOut))
          : boost_and_watch(training, tree, limits, Rng(split(seed, 1)), how);
  const TreeOutput output{training.target.mean, training.target.scale, 0.0};
  return std::make_unique<TreeEnsemble>(std::move(trees), training.columns, output);
}

}  // namespace tare
