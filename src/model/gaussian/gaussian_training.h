// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "model/gaussian/gaussian_network.h"
#include "model/nn/options.h"
#include "tare/base/params.h"
#include "tare/model/regressor.h"

namespace tare {

// The options of networks with a mean and an sd head, to be joined to lists of methods.

inline constexpr std::array kGaussianOptions = std::to_array<ParamInfo>({
    {"sd_floor", "0.001", "least sd, as a share of the target's own"},
    {"beta", "0",
     "weight of a row's likelihood is its predicted variance to this power; 0: plain likelihood"},
    {"refine", "0.1",
     "after training, train on from the best weights at this share of the learning rate; 0: do "
     "not"},
});
/// What nn::FitOptions reads, with the rate and the batch that feed_forward starts from.
inline constexpr auto kGaussianTraining = nn::training_options("0.005", "10");
inline constexpr std::array kGaussianDropout = std::to_array<ParamInfo>({
    {"dropout", "0", "share of the hidden units that are left out at random in training"},
});

/// How to train such a network.
struct GaussianOptions {
  /// Reads hidden, activation, dropout, sd_floor, beta, refine, adversarial and what nn::FitOptions
  /// reads.
  static GaussianOptions feed_forward(const Params& params);
  /// Reads window (of rows with `cols` columns) and units in place of hidden and activation.
  static GaussianOptions recurrent(const Params& params, std::size_t cols);

  GaussianShape shape;  // `features` comes from the data
  double beta = 0.0;    // see gaussian_loss
  double refine = 0.0;  // rate of a second training from the best weights, as a share; 0: none
  double adversarial =
      0.0;  // step of adversarial examples, as a share of a column's range; 0: none
  nn::FitOptions training;
};

/// Which rows a training with this seed stops on.
nn::Division gaussian_division(std::size_t rows, const GaussianOptions& options, Seed seed);

/// Maximises the Gaussian likelihood of the standardised target. With adversarial examples
/// (Goodfellow et al. 2015) each row also counts, half, where its inputs are moved by the step in
/// the direction that raises its loss. `data` has at least one row. A target that does not vary
/// gives that target with an sd of 0; data without columns give the target's mean and sd.
GaussianNetwork fit_gaussian_network(const RegressionData& data, const GaussianOptions& options,
                                     Seed seed, const Execution& how);

}  // namespace tare
