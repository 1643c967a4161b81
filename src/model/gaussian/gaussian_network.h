// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "model/gaussian/gaussian_layers.h"
#include "model/gaussian/gaussian_mixture.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace tare {

/// Repeated evaluation with hidden units left out at random.
struct DropoutPasses {
  std::size_t count = 100;  // at least 1
  Seed seed;                // pass k draws its units from split(seed, k)
};

/// A network that predicts a normal distribution for each row: mean and standard deviation in the
/// user's units. Inputs and target are standardised inside; training and evaluation are in float. A
/// row's answer does not depend on the rows around it or on threads. Made by fit_gaussian_network.
class GaussianNetwork {
 public:
  enum class Target : std::uint8_t {
    kVaries,
    kConstant,  // the sd is 0, and the mean that constant exactly
  };
  /// `fitted` holds as many parameters as the shape has.
  GaussianNetwork(const GaussianShape& shape, nn::Scaling scaling, nn::Fitted fitted,
                  Target target);

  std::size_t features() const { return scaling_.features(); }
  const GaussianShape& shape() const { return shape_; }
  const nn::Scaling& scaling() const { return scaling_; }
  const nn::Fitted& fitted() const { return fitted_; }
  bool is_constant() const { return target_ == Target::kConstant; }

  /// Throws kShapeMismatch unless x has features() columns. May be called from several threads.
  Gaussians predict(MatrixView x, const Execution& how = {}) const;
  /// The moments of the equal mixture of all passes, each with dropout as in training. All rows see
  /// the same units in a pass. Throws as predict.
  Gaussians predict_passes(MatrixView x, const DropoutPasses& passes,
                           const Execution& how = {}) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static GaussianNetwork load(const TensorReader& in);

 private:
  using Take = std::function<void(std::size_t row, double mean, double sd)>;
  void evaluate(std::span<const float> parameters, MatrixView x, const Execution& how,
                const Take& take) const;

  GaussianShape shape_;
  GaussianLayers layers_;
  nn::Scaling scaling_;
  nn::Fitted fitted_;
  Target target_;
};

}  // namespace tare
