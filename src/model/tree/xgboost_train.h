// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/tree/tree_ensemble.h"

// XGBoost, as far as tare needs it: to grow trees. Without it (TARE_WITH_XGBOOST=OFF) the same
// functions exist and throw kUnsupported; models that were saved still load and predict.
//
// Every object belongs to one thread, but several threads may each train their own. XGBoost draws
// its random numbers from a generator of the thread, so one booster must be trained to its end
// before the next is made on the same thread. It always runs on one thread itself: its sums depend
// on how many it has. Whatever XGBoost reports as an error becomes tare::Error, kBadData.

namespace tare {

/// Rows for training or for looking at progress. Copies what it is given.
class TreeRows {
 public:
  /// x row-major, finite; weight may be empty.
  TreeRows(std::span<const float> x, std::size_t cols, std::span<const float> y,
           std::span<const float> weight);
  ~TreeRows();
  TreeRows(const TreeRows&) = delete;
  TreeRows& operator=(const TreeRows&) = delete;

  std::size_t rows() const noexcept { return rows_; }
  void* handle() const noexcept { return handle_; }

 private:
  void* handle_ = nullptr;
  std::size_t rows_ = 0;
};

/// Parameters by XGBoost's names.
using BoosterParams = std::vector<std::pair<std::string, std::string>>;

/// Trees in training, for squared error; the sum starts from 0.
class Booster {
 public:
  /// Predictions for the rows in `watched` are kept up to date tree by tree; they must outlive it.
  Booster(const BoosterParams& params, std::span<const TreeRows* const> watched);
  ~Booster();
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;

  /// Adds the tree that follows from the error so far.
  void add_tree(const TreeRows& train);
  /// Adds a tree of weighted means of `y`, whatever the trees before it say. A row may weigh 0.
  void add_mean_tree(const TreeRows& train, std::span<const float> y,
                     std::span<const float> weight);
  std::vector<float> predict(const TreeRows& rows);
  /// The first `count` trees.
  TreeNodes trees(std::size_t count) const;

 private:
  // Unused where there is no XGBoost.
  [[maybe_unused]] void* handle_ = nullptr;
  [[maybe_unused]] int added_ = 0;
};

}  // namespace tare
