// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/fold_boosting.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/parallel.h"
#include "data/partition.h"
#include "model/tree/tree_training.h"

namespace tare {
namespace {

/// Some rows of all.
struct FoldRows {
  std::vector<float> x, y, weight;

  FoldRows(const TreeTraining& all, std::span<const std::size_t> rows) {
    const std::size_t cols = all.columns.shift.size();
    for (const std::size_t i : rows) {
      const auto first = all.x.begin() + static_cast<std::ptrdiff_t>(i * cols);
      x.insert(x.end(), first, first + static_cast<std::ptrdiff_t>(cols));
      y.push_back(all.y[i]);
      weight.push_back(all.weight[i]);
    }
  }
};

double squared_error(std::span<const float> predicted, const FoldRows& rows) {
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.y.size(); ++i) {
    const double error = static_cast<double>(predicted[i]) - static_cast<double>(rows.y[i]);
    sum += static_cast<double>(rows.weight[i]) * error * error;
  }
  return sum;
}

/// The trees of one fold, all that were grown, and the error left out after each: error[r] is that
/// of r trees.
struct GrownFold {
  TreeNodes trees;
  std::vector<double> error;
};

GrownFold grow_fold(const TreeTraining& training, std::span<const std::uint32_t> fold,
                    std::uint32_t k, const FoldBoostingOptions& options, Seed seed) {
  std::vector<std::size_t> inside;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] == k) inside.push_back(i);
  }
  const FoldRows kept(training, rows_outside(fold, k, options.gap));
  const FoldRows left(training, inside);
  const std::size_t cols = training.columns.shift.size();
  const TreeRows train(kept.x, cols, kept.y, kept.weight);
  const TreeRows test(left.x, cols, left.y, left.weight);
  BoosterParams params = tree_params({0, options.min_leaf, TreeShape::Splits::kBinned, seed});
  params.emplace_back("grow_policy", "lossguide");
  params.emplace_back("max_leaves", fmt::to_string(options.leaves));
  params.emplace_back("eta", fmt::to_string(options.learning_rate));
  params.emplace_back("lambda", fmt::to_string(options.shrink));
  params.emplace_back("colsample_bynode", fmt::to_string(options.columns));
  params.emplace_back("subsample", fmt::to_string(options.row_share));
  const TreeRows* const watched[] = {&train, &test};
  Booster booster(params, watched);

  GrownFold grown;
  grown.error.push_back(squared_error(std::vector<float>(left.y.size(), 0.0F), left));
  std::size_t best = 0;
  for (std::size_t round = 1; round <= options.rounds && round - best <= options.patience;
       ++round) {
    booster.add_tree(train);
    grown.error.push_back(squared_error(booster.predict(test), left));
    if (grown.error.back() < grown.error[best]) best = round;
  }
  grown.trees = booster.trees(grown.error.size() - 1);
  return grown;
}

/// The number of rounds with the lowest sum; a fold that stopped stays at its last error.
std::size_t common_rounds(std::span<const GrownFold> folds) {
  std::size_t longest = 0;
  for (const GrownFold& fold : folds) longest = std::max(longest, fold.error.size());
  std::size_t best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t round = 0; round < longest; ++round) {
    double sum = 0.0;
    for (const GrownFold& fold : folds) sum += fold.error[std::min(round, fold.error.size() - 1)];
    if (sum < lowest) {
      lowest = sum;
      best = round;
    }
  }
  return best;
}

TreeNodes first_trees(TreeNodes trees, std::size_t count) {
  if (count >= trees.root.size()) return trees;
  trees.node.resize(static_cast<std::size_t>(trees.root[count]));
  trees.root.resize(count);
  return trees;
}

}  // namespace

std::vector<std::unique_ptr<Regressor>> fit_boosting_folds(const RegressionData& data,
                                                           std::span<const std::uint32_t> fold,
                                                           std::size_t folds,
                                                           const FoldBoostingOptions& options,
                                                           Seed seed, const Execution& how) {
  const TreeTraining training(data, how);
  std::vector<std::unique_ptr<Regressor>> models;
  if (training.trivial()) {
    for (std::size_t k = 0; k < folds; ++k) models.push_back(training.constant());
    return models;
  }
  std::vector<GrownFold> grown(folds);
  parallel_for(how, folds, [&](std::size_t k) {
    grown[k] = grow_fold(training, fold, static_cast<std::uint32_t>(k), options, split(seed, k));
  });
  const std::size_t rounds = common_rounds(grown);
  const TreeOutput output{training.target.mean, training.target.scale, 0.0};
  for (GrownFold& one : grown) {
    models.push_back(std::make_unique<TreeEnsemble>(first_trees(std::move(one.trees), rounds),
                                                    training.columns, output));
  }
  return models;
}

}  // namespace tare
