// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/gp/sparse_gp.h"
#include "model/nn/options.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "tare/base/error.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"
#include "tare/model/regressor.h"

namespace tare {

inline constexpr auto kDeepGpOptions = join_options(
    std::to_array<ParamInfo>({
        {"width", "10", "outputs of the hidden layer"},
        {"inducing", "128", "inducing points of each layer; fewer where there are fewer rows"},
        {"draws", "8",
         "draws of the noise between the layers for each row of a minibatch, combined by "
         "importance weights; 1: the plain bound, under which that noise has no effect"},
        {"samples", "64", "number of normal distributions in the mixture that is the answer"},
    }),
    nn::training_options("0.01"));

/// A deep Gaussian process of two layers (Damianou & Lawrence 2013) with the doubly stochastic
/// variational inference of Salimbeni & Deisenroth 2017:
///
///   h = W x + f1(x) + noise,   y = f2(h) + noise,
///
/// both f sparse Gaussian processes, W fixed: the identity with columns of zeros added, or the
/// first principal axes where x has more columns; the last column is always 0. Rows and target are
/// standardised inside.
///
/// The noise between the layers is the original model's, and is what lets the spread of y depend on
/// x. It uses importance weighting over several draws (Salimbeni, Dutordoir, Hensman, Deisenroth
/// 2019), stratified here: with one draw the noise can only lower the bound, and training removes
/// it.
///
/// A step costs about (width + 2 draws) batch M^2 multiplications. Meant for up to a few thousand
/// rows; more rows only take longer.
class DeepGp {
 public:
  struct Shape {
    std::size_t features = 0;
    std::size_t width = 0;
    std::size_t points = 0;
  };
  /// The offsets of all parameters; holds no values.
  struct Layers {
    Layers(const Shape& shape, nn::Layout& layout);

    SparseGpLayer hidden;
    SparseGpLayer output;
    nn::Block between;  // raw sd of the noise of each hidden output, 1 x width
    nn::Block noise;    // raw sd of the noise of the target
  };
  /// What is fitted and saved. Without inducing points it is the marginal distribution of the
  /// target.
  struct Parts {
    Shape shape;
    std::vector<float> mean_map;  // W, features x width
    std::vector<float>
        draws;  // standard normal, one row of `width` for each component of the mixture
    nn::Fitted fitted;
    double spread = 0.0;  // sd of the target in units of its scale, where there are no points
  };

  /// Lower limit of both noises' sd, in units of the target's sd and of the hidden outputs: small
  /// enough not to matter, large enough that a likelihood stays finite in float.
  static constexpr double kNoiseFloor = 1e-3;
  static constexpr std::size_t kMaxWidth = 100;
  static constexpr std::size_t kMaxPoints = 1000;
  static constexpr std::size_t kMaxSamples = 10'000;
  /// No parameter is larger, so that no answer overflows: rows and target are of size 1.
  static constexpr float kLargest = 1e6F;
  /// Throws `code` if a parameter is larger.
  static void check_size(std::span<const float> parameters, ErrorCode code);

  DeepGp(nn::Scaling scaling, Parts parts);
  static DeepGp load(const TensorReader& in);
  void save(const TensorWriter& out) const;

  std::size_t features() const { return scaling_.features(); }

  /// Normal distributions in the user's units whose mixture is the predicted distribution of a row.
  /// For a constant target there is one, with sd 0.
  struct Mixture {
    std::span<const double> mean;
    std::span<const double> sd;
  };
  /// Calls take(i, mixture) for each row, from the threads of `how`; what row i gets does not
  /// depend on the other rows. x has features() columns.
  void predict(MatrixView x, const Execution& how,
               const std::function<void(std::size_t i, const Mixture& mixture)>& take) const;

 private:
  nn::Layout layout_;
  nn::Scaling scaling_;
  Parts parts_;
  Layers layers_;
};

/// Throws kBadData (training does not stay finite), kInvalidArgument (an option out of its range).
DeepGp fit_deep_gp(const RegressionData& data, const Params& params, Seed seed,
                   const Execution& how);

}  // namespace tare
