// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "calibrate/automatic/cross_fit/cross_fit.h"
#include "calibrate/automatic/cross_fit/fold_models.h"
#include "model/boosting/fold_boosting.h"
#include "model/gp/gp_kernel.h"
#include "model/nn/head_network.h"
#include "tare/base/params.h"

namespace tare::automatic {

/// The least spread that a scale has, in units of the target.
inline constexpr double kLeastSpread = 1e-3;

/// The seconds that a network of two hidden layers trains for, roughly.
double network_seconds(std::size_t units, std::size_t steps);

/// For functions that vary slowly, with much noise.
inline constexpr FoldBoostingOptions kSmallTrees = {.rounds = 400,
                                                    .patience = 40,
                                                    .learning_rate = 0.05,
                                                    .leaves = 8,
                                                    .min_leaf = 20.0,
                                                    .columns = 0.5,
                                                    .shrink = 5.0};

/// The weighted sum of squared errors of a column.
double squared_error(const CrossFit& fit, std::size_t column);

double median_of(std::vector<double> values);

/// Kernels of one form. Folds come in parts, each with a kernel learned from the rows of the other
/// parts. One learned from all rows knows their targets, so that residuals are too small; with many
/// rows, where it is learned from few of them, there is one part.
using PartKernels = std::vector<GpKernel>;

/// The kernels of the Gaussian processes for scales, one set for each form, learned by the first
/// that needs them: what matters to the scale of one center matters to that of the others.
struct GpKernels {
  std::vector<PartKernels> scale;
  std::vector<PartKernels> scored_scale;  // of the second target of scale_training
};

/// Trains models on folds, adds what they predict to `fit`, and reports progress: for that the
/// seconds of each on a set of 8,000 rows, roughly. `stream` numbers the random numbers of a call.
struct FamilyTraining {
  CrossFit& fit;
  Seed seed;
  const Execution& how;
  Progress& progress;
  GpKernels* processes = nullptr;  // whether to train Gaussian processes

  /// One for each fold. Returns the first column, one for each head.
  std::size_t networks(std::string_view stage, const nn::HeadNetworkOptions& options,
                       std::span<const double> weight, std::uint64_t stream) const;
  /// Trains a network by the rows that it is given.
  Learner network_learner(std::string_view stage, nn::HeadNetworkOptions options) const;
  std::size_t regressor(std::string_view name, const Params& params, std::uint64_t stream) const;
  std::size_t boosting(std::string_view stage, const RegressionData& data, const Folds& folds,
                       std::vector<std::size_t> inputs, FoldBoostingOptions options,
                       std::uint64_t stream) const;
  /// The kernels of one target, a set for each form.
  std::vector<PartKernels> learn_kernels(const RegressionData& data, const Folds& folds,
                                         std::uint64_t stream) const;
  /// For each form the mean of the Gaussian processes of x with its kernels, if they can be
  /// computed. Each row is predicted from the rows of other folds, with the kernel of its part.
  /// (From all other rows would be better, and is a trap: its own target then shows in how far this
  /// prediction is from that of all rows, and the kernel of a calibration on the predictions finds
  /// the rows whose targets are as far out.)
  std::vector<std::size_t> gaussian_processes(std::string_view stage, const RegressionData& data,
                                              const Folds& folds,
                                              std::span<const PartKernels> kernels,
                                              std::uint64_t stream) const;
  /// The quantiles at nn::kHeadLevels, by trees.
  std::size_t quantile_boosting(std::uint64_t stream) const;

  /// The share of each column in the blend with the least mean squared distance from y.
  std::vector<double> blend_shares(std::span<const std::size_t> inputs, std::span<const double> y,
                                   std::span<const double> weight) const;
  /// The blend with these shares.
  std::size_t blend(std::span<const std::size_t> inputs, std::span<const double> share) const;
  /// A model of the probability that the target is `value`, on x and `inputs`.
  std::size_t probability(double value, std::vector<std::size_t> inputs,
                          std::uint64_t stream) const;
  /// The log of the distance between the outermost of nn::kHeadLevels.
  std::size_t log_width(std::size_t first_quantile) const;
};

}  // namespace tare::automatic
