// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/nn/layers.h"
#include "model/nn/options.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare {

inline constexpr auto kMlpOptions = join_options(
    nn::kBodyOptions,
    std::to_array<ParamInfo>({
        {"embed", "0", "units of one more layer before the output, to calibrate on; 0: none"},
        {"dropout", "0", "share of the hidden units that are left out at random in training"},
    }),
    nn::training_options("0.01"));

/// A feed-forward network. Inputs and target are standardised inside; training and prediction are
/// in float.
class MlpRegressor final : public Regressor {
 public:
  struct Shape {
    std::size_t features = 0;
    std::vector<std::size_t> hidden;
    nn::Unary activation = nn::Unary::kLeakyRelu;
    double dropout = 0.0;
  };

  /// `fitted` holds as many parameters as the shape has.
  MlpRegressor(const Shape& shape, nn::Scaling scaling, nn::Fitted fitted);

  std::size_t features() const override { return scaling_.features(); }
  void predict(MatrixView x, std::span<double> out, const Execution& how) const override;
  void save(const TensorWriter& out) const override;

  /// Units of the last layer before the output.
  std::size_t embedding_size() const;
  /// What these units put out, after their activation; rows of x by embedding_size().
  Matrix embed(MatrixView x, const Execution& how = {}) const;

  /// The network of a shape, for training.
  static nn::Mlp layers(const Shape& shape, nn::Layout& layout);
  static nn::Network network(const nn::Mlp& mlp, std::size_t parameters);

 private:
  nn::Layout layout_;
  nn::Mlp mlp_;
  nn::Scaling scaling_;
  nn::Fitted fitted_;
};

std::unique_ptr<Regressor> fit_mlp(const RegressionData& data, const Params& params, Seed seed,
                                   const Execution& how);
std::unique_ptr<Regressor> load_mlp(const TensorReader& in);

/// The network behind a regressor, or null where it is another kind.
const MlpRegressor* as_mlp(const Regressor& regressor);

}  // namespace tare
