// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "model/gaussian/gaussian_network.h"
#include "model/gaussian/gaussian_training.h"
#include "tare/base/params.h"

namespace tare {

inline constexpr std::array kRandomisedOptions = std::to_array<ParamInfo>({
    {"alpha", "0.5",
     "share of |F(y) - r| in the loss; the rest is the negative log-likelihood. Near 1: calibrated "
     "at each x, and wide",
     "0.1,0.5,0.9"},
});

/// A randomised forecaster (Zhao, Ma, Ermon 2020): a network that takes a row and a number r in
/// [0, 1], and predicts a normal distribution F(x, r). With r drawn uniformly for each row, its
/// loss is alpha |F(x, r)(y) - r| + (1 - alpha) (negative log-likelihood).
///
/// What the first part is for: r is uniform given x, so the levels F(x, r)(y) of the rows of any
/// group of x are within mean |F(x, r)(y) - r| over that group of a uniform distribution (distance
/// of Wasserstein, order 1), and that mean is at most the one over all rows divided by the group's
/// share of them. That F(x, r)(y) rises with r is not enforced.
class RandomisedNetwork {
 public:
  /// `network` has one column more than the rows: r, the last.
  explicit RandomisedNetwork(GaussianNetwork network) : network_(std::move(network)) {}

  std::size_t features() const { return network_.features() - 1; }
  bool is_constant() const { return network_.is_constant(); }
  /// The target's mean and scale in training.
  const Standard& target() const { return network_.scaling().target(); }

  /// F(x_i, r_i) for each row. Throws kShapeMismatch.
  Gaussians forecast(MatrixView x, std::span<const double> r, const Execution& how = {}) const;

  void save(const TensorWriter& out) const { network_.save(out); }
  /// Throws kCorruptFile.
  static RandomisedNetwork load(const TensorReader& in);

 private:
  GaussianNetwork network_;
};

/// Reads alpha and what GaussianOptions::feed_forward reads, except beta.
RandomisedNetwork fit_randomised_network(const RegressionData& data, const Params& params,
                                         Seed seed, const Execution& how);

}  // namespace tare
