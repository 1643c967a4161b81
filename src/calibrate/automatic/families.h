// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/automatic/cross_fit/cross_fit.h"
#include "calibrate/automatic/effort.h"

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
