// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tare/model/regressor.h"

namespace tare {

struct FoldBoostingOptions {
  std::size_t rounds = 1000;  // at most
  std::size_t patience = 60;  // rounds without a lower error after which a fold stops
  double learning_rate = 0.05;
  std::size_t leaves = 15;  // of a tree
  double min_leaf = 5.0;    // rows of average weight
  double columns = 0.7;     // share that a split may choose from
  double row_share = 1.0;   // of the rows, that a tree sees
  double shrink = 1.0;      // shrinkage of a leaf towards 0, in rows
  std::size_t gap =
      0;  // for rows in time order: rows within this distance of a fold do not train for it
};

/// Gradient boosted trees for each fold, grown on the rows of all other folds. They share one
/// number of rounds, the one with the lowest out-of-fold error over all rows: no row is lost to
/// early stopping, and only one number is chosen. `fold[i]` is below `folds`. The result does not
/// depend on threads.
std::vector<std::unique_ptr<Regressor>> fit_boosting_folds(const RegressionData& data,
                                                           std::span<const std::uint32_t> fold,
                                                           std::size_t folds,
                                                           const FoldBoostingOptions& options,
                                                           Seed seed, const Execution& how);

}  // namespace tare
