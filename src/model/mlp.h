// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "model/nn/layers.h"
#include "model/nn/regression.h"
#include "model/nn/scaling.h"
#include "tare/base/matrix.h"
#include "tare/model/regressor.h"

namespace tare {

inline constexpr ParamInfo kMlpOptions[] = {
    {"hidden", "20,20", "units of each hidden layer"},
    {"activation", "leaky_relu", "leaky_relu (0.2 below zero), relu, silu, tanh or sigmoid"},
    {"embed", "0", "units of one more layer before the output, to calibrate on; 0: none"},
    {"learning_rate", "0.01", "step size of Adam"},
    {"batch", "64", "rows of a minibatch"},
    {"epochs", "1000", "passes over the rows, at most"},
    {"patience", "20", "epochs without a better validation loss after which training stops"},
    {"weight_decay", "0", "share of the weights, times learning_rate, that each step takes away"},
    {"dropout", "0", "share of the hidden units that are left out at random in training"},
    {"validation", "0.15", "share of the rows that decide when to stop"},
    {"grid", "none",
     "paper: try learning rates 0.01, 0.005, 0.001 and batches 10, 64, 128 on the "
     "validation rows; one that is given stays"},
};

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
