// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/automatic/cross_fit/cross_fit.h"

namespace tare::automatic {

/// A way to standardise the target of a row, and the features of the kernel for it. The
/// residual is (y - center) / exp(log_scale); without a center it is y itself, without a scale the
/// difference. Columns are those of the statistics.
struct Candidate {
  std::string name;
  std::optional<std::size_t> center = {};
  std::optional<std::size_t> log_scale = {};
  std::vector<std::size_t> kernel = {};     // empty: the kernel sees x
  std::vector<std::size_t> x_columns = {};  // of x, where the kernel sees that; empty: all
  bool smooth = false;  // by kernel quantile regression on all of x in place of SNQ
};

/// How much is trained; a budget is a set of these.
struct Effort {
  std::size_t folds = 8;
  std::size_t folds_of_many = 6;  // with more than 4,000 rows: the time goes with the folds, and
                                  // models of fewer are nearly as good
  std::size_t folds_of_most = 3;  // with more than 40,000 rows, where two thirds of them are plenty
  std::size_t rungs = 4;          // shapes of networks that may be tried (network_ladder)
  std::size_t sure_units = 64;    // those with more units only where the last one brought much
  std::size_t members = 1;        // networks of each kind for each fold
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

/// Trains the families and adds what they know to `fit`. The families make different errors: means
/// by squared error, with equal weights and with weights by the local noise, normal distributions,
/// quantiles of networks and of trees.
std::vector<Candidate> train_families(CrossFit& fit, const Effort& effort, Seed seed,
                                      const Execution& how);

/// The same where a center is given, and perhaps the log of a scale.
std::vector<Candidate> train_given_families(CrossFit& fit, std::size_t center,
                                            std::optional<std::size_t> log_scale, Seed seed,
                                            const Execution& how);

/// Candidates for the target itself if many rows share a value, the most frequent of which is
/// `heaviest`. The features of their kernels are a model's center and spread for the row; these and
/// a boosted probability of that value; and that probability alone.
std::vector<Candidate> train_mass_laws(CrossFit& fit, std::size_t center, std::size_t spread,
                                       double heaviest, Seed seed, const Execution& how);

}  // namespace tare::automatic
