// SPDX-License-Identifier: BSD-3-Clause
#include "model/boosting/fold_boosting.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/parallel.h"
#include "data/partition.h"
#include "model/tree/best_first_tree.h"
#include "model/tree/binned_rows.h"
#include "model/tree/tree_training.h"

namespace tare {
namespace {

/// Trees of one fold, grown on the rows of the others, and the error of its own rows.
class FoldBooster {
 public:
  FoldBooster(const TreeTraining& all, const BinnedRows& binned, std::span<const std::size_t> kept,
              std::span<const std::size_t> left, const FoldBoostingOptions& options, Seed seed)
      : kept_(kept.size()), options_(options), rng_(seed), grower_(binned, shape_of(options)) {
    const std::size_t cols = binned.cols();
    const std::size_t count = kept.size() + left.size();
    by_row_.resize(count * cols);
    by_column_.resize(count * cols);
    const auto add = [&](std::size_t row) {
      const std::size_t place = y_.size();
      for (std::size_t j = 0; j < cols; ++j) {
        const std::uint8_t bin = binned.column(j)[row];
        by_row_[place * cols + j] = bin;
        by_column_[j * count + place] = bin;
      }
      y_.push_back(all.y[row]);
      weight_.push_back(all.weight[row]);
    };
    for (const std::size_t row : kept) add(row);
    for (const std::size_t row : left) add(row);
    error_.push_back(error_left());
  }

  void add_tree() {
    draw_rows();
    TreeNodes tree = grower_.grow({by_row_, by_column_, y_, weight_}, seen_, others_, rng_);
    for (TreeNode& node : tree.node) {
      if (node.feature < 0) node.value *= static_cast<float>(options_.learning_rate);
    }
    const auto rate = static_cast<float>(options_.learning_rate);
    grower_.each_row(seen_, others_,
                     [&](std::uint32_t row, float value) { y_[row] -= rate * value; });
    trees_.append(tree);
    error_.push_back(error_left());
  }

  /// Of the rows left out, after each number of trees.
  std::span<const double> error() const noexcept { return error_; }
  TreeNodes take_trees() { return std::move(trees_); }

 private:
  static BestFirstOptions shape_of(const FoldBoostingOptions& options) {
    return {options.leaves, options.min_leaf, options.columns, options.shrink};
  }

  /// Each row that is kept is seen with the probability row_share.
  void draw_rows() {
    seen_.clear();
    others_.clear();
    const auto most = static_cast<std::uint64_t>(options_.row_share * 0x1p32);
    for (std::size_t i = 0; i < kept_; i += 2) {
      const std::uint64_t drawn = rng_.next();
      const auto row = static_cast<std::uint32_t>(i);
      ((drawn & 0xffffffffU) < most ? seen_ : others_).push_back(row);
      if (i + 1 < kept_) ((drawn >> 32U) < most ? seen_ : others_).push_back(row + 1);
    }
    for (std::size_t i = kept_; i < y_.size(); ++i) {
      others_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  double error_left() const {
    double sum = 0.0;
    for (std::size_t i = kept_; i < y_.size(); ++i) {
      sum +=
          static_cast<double>(weight_[i]) * static_cast<double>(y_[i]) * static_cast<double>(y_[i]);
    }
    return sum;
  }

  std::size_t kept_;  // rows that are kept come first, then those left out
  FoldBoostingOptions options_;
  Rng rng_;
  BestFirstGrower grower_;
  std::vector<std::uint8_t> by_row_;
  std::vector<std::uint8_t> by_column_;
  std::vector<float> y_;  // what is left of it
  std::vector<float> weight_;
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint32_t> others_;
  std::vector<double> error_;
  TreeNodes trees_;
};

/// The number of trees with the lowest sum of errors.
std::size_t best_rounds(std::span<const std::unique_ptr<FoldBooster>> boosters) {
  std::size_t best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t round = 0; round < boosters.front()->error().size(); ++round) {
    double sum = 0.0;
    for (const auto& booster : boosters) sum += booster->error()[round];
    if (sum < lowest) {
      lowest = sum;
      best = round;
    }
  }
  return best;
}

/// Adds trees to all, in parallel, as long as the lowest error is among the last `patience` rounds.
/// Returns how many of them to use.
std::size_t grow_all(std::span<const std::unique_ptr<FoldBooster>> boosters,
                     const FoldBoostingOptions& options, const Execution& how) {
  constexpr std::size_t kRoundsAtOnce = 25;
  std::size_t best = 0;
  for (std::size_t grown = 0; grown < options.rounds && grown - best <= options.patience;) {
    const std::size_t more = std::min(kRoundsAtOnce, options.rounds - grown);
    parallel_for(how, boosters.size(), [&](std::size_t k) {
      for (std::size_t r = 0; r < more; ++r) boosters[k]->add_tree();
    });
    grown += more;
    best = best_rounds(boosters);
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
  // With few rows this saves a third of the bins, which take most of the time of small leaves.
  constexpr std::size_t kLeastInBin = 3;
  const BinnedRows binned(training.x, training.columns.shift.size(), how,
                          std::numeric_limits<std::size_t>::max(), kLeastInBin);
  std::vector<std::unique_ptr<FoldBooster>> boosters(folds);
  parallel_for(how, folds, [&](std::size_t k) {
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < fold.size(); ++i) {
      if (fold[i] == k) inside.push_back(i);
    }
    boosters[k] = std::make_unique<FoldBooster>(
        training, binned, rows_outside(fold, static_cast<std::uint32_t>(k), options.gap), inside,
        options, split(seed, k));
  });
  const std::size_t rounds = grow_all(boosters, options, how);
  const TreeOutput output{training.target.mean, training.target.scale, 0.0};
  for (const auto& booster : boosters) {
    models.push_back(std::make_unique<TreeEnsemble>(first_trees(booster->take_trees(), rounds),
                                                    training.columns, output));
  }
  return models;
}

}  // namespace tare
