// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "tare/base/params.h"

namespace tare::automatic {

inline constexpr std::size_t kMostRounds = 20;

/// How much is trained; a budget is a set of these.
struct Effort {
  std::size_t rounds = 1;          // fits with other folds and seeds, which are averaged
  std::size_t rounds_of_many = 1;  // with more than 20,000 rows, where folds matter little
  std::size_t folds = 8;
  std::size_t folds_of_many = 6;  // with more than 4,000 rows: the time goes with the folds, and
                                  // models of fewer are nearly as good
  std::size_t folds_of_most = 3;  // with more than 40,000 rows, where two thirds of them are plenty
  std::size_t rungs = 4;          // shapes of networks that may be tried (network_ladder)
  std::size_t steps = 0;          // of every network; 0: by the shape
  bool processes = true;          // Gaussian processes, where rows and columns are not too many
  std::size_t trees = 60;         // extremely randomised ones
  bool all_families = true;       // false: the means only
  bool smooth = true;             // kernel quantile regression, where rows are few
  bool rough = false;  // one kind of boosting and few candidates: for fits on halves, of which
                       // there are many
  std::size_t contest_rows = 5000;  // on which candidates are compared, at most
  std::size_t most_rows = 200'000;  // that are learned from: more of them cost time and memory, and
                                    // hardly change an answer
};

std::span<const ParamInfo> effort_options();

/// What the options ask for. Throws kInvalidArgument.
Effort effort_of(const Params& params);

/// Folds and rounds for a number of rows.
std::size_t fold_count(std::size_t rows, const Effort& effort);
std::size_t round_count(std::size_t rows, const Effort& effort);

}  // namespace tare::automatic
