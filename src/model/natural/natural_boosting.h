// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "model/gaussian/gaussian_mixture.h"
#include "model/tree/tree_ensemble.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare {

inline constexpr std::array kNaturalBoostingOptions = std::to_array<ParamInfo>({
    {"rounds", "500", "trees for the mean, and as many for the sd, at most"},
    {"learning_rate", "0.01", "share of each step that is taken", "0.01,0.03,0.1"},
    {"depth", "3", "splits from the root to a leaf, at most", "2,3,4"},
    {"min_leaf", "1", "weight that a leaf must hold, in rows of average weight"},
    {"rows", "1", "share of the rows that each round learns from"},
    {"validation", "0", "share of the rows left out to choose the number of rounds; 0: all rounds"},
    {"patience", "50", "rounds without progress on the rows left out before training stops"},
});

struct NaturalBoostingOptions {
  std::size_t rounds = 500;
  double learning_rate = 0.01;
  std::size_t depth = 3;
  double min_leaf = 1.0;
  double rows = 1.0;
  double validation = 0.0;
  std::size_t patience = 50;

  /// Throws kInvalidArgument for a value outside its range.
  static NaturalBoostingOptions parse(const Params& params);
};

/// Natural gradient boosting (Duan et al. 2020) of a normal distribution's mean and log sd by the
/// log score. It begins with the mean and sd of the targets. Each round grows one tree for each of
/// the two by the natural gradients of the rows, and takes the learning rate's share of the step
/// along both trees. The step's length is 1, halved until the mean score of the round's rows is
/// lower; boosting ends where no length lowers it.
class NaturalBoosting {
 public:
  /// Weights must be positive. The result does not depend on threads.
  static NaturalBoosting fit(const RegressionData& data, const NaturalBoostingOptions& options,
                             Seed seed, const Execution& how);

  std::size_t features() const { return mean_->features(); }
  /// Trees for the mean, and as many for the sd.
  std::size_t rounds() const { return mean_->trees(); }
  Gaussians predict(MatrixView x, const Execution& how) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static NaturalBoosting load(const TensorReader& in);

 private:
  NaturalBoosting() = default;

  std::unique_ptr<TreeEnsemble> mean_;    // in the user's units
  std::unique_ptr<TreeEnsemble> log_sd_;  // in units of unit_
  double unit_ = 0.0;                     // 0 where the targets are all equal
};

}  // namespace tare
