// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model/nn/graph/graph.h"
#include "model/nn/graph/parameters.h"
#include "model/nn/kernels/kernels.h"
#include "tare/base/rng.h"

namespace tare::nn {

// A layer is the offset of its parameters in the network's vector. It holds no values, so any
// number of graphs, of float and of double, can share it. `noise` is the source of dropout's masks;
// null means none is wanted.

/// leaky_relu, relu, silu, tanh or sigmoid; kInvalidArgument lists them.
Unary activation_by_name(std::string_view name);
/// The reverse, for these five.
std::string_view name_of_activation(Unary f);

/// x w + bias
struct Dense {
  Dense(Layout& layout, std::size_t inputs, std::size_t outputs);
  /// Uniform in +-1/sqrt(inputs), weights and bias.
  template <class T>
  void initialise(std::span<T> parameters, Rng& rng) const;
  template <class T>
  Var<T> operator()(Var<T> x) const;

  Block weight;
  Block bias;
};

/// Dense layers with an activation and dropout after each but the last.
struct Mlp {
  /// `hidden` may be empty: then it is a linear function.
  Mlp(Layout& layout, std::size_t inputs, std::span<const std::size_t> hidden, std::size_t outputs);
  template <class T>
  void initialise(std::span<T> parameters, Rng& rng) const;
  /// What goes into the last layer.
  template <class T>
  Var<T> features(Var<T> x, Rng* noise = nullptr) const;
  template <class T>
  Var<T> operator()(Var<T> x, Rng* noise = nullptr) const;

  std::vector<Dense> layers;
  Unary activation = Unary::kLeakyRelu;
  double dropout_rate = 0.0;
};

/// A layer of LSTM cells that starts from a zero state.
struct LstmLayer {
  LstmLayer(Layout& layout, std::size_t inputs, std::size_t units);
  /// Uniform in +-1/sqrt(units); the forget gate's bias is 1 more, so that cells keep their state
  /// at first.
  template <class T>
  void initialise(std::span<T> parameters, Rng& rng) const;
  /// The hidden state after each step.
  template <class T>
  std::vector<Var<T>> operator()(std::span<const Var<T>> steps) const;

  Block input;      // inputs x 4 units
  Block recurrent;  // units x 4 units
  Block bias;
};

/// Layers of LSTM on a window whose steps lie side by side, oldest first; dropout after each layer.
struct Lstm {
  Lstm(Layout& layout, std::size_t window, std::size_t inputs, std::span<const std::size_t> units);
  template <class T>
  void initialise(std::span<T> parameters, Rng& rng) const;
  /// The last layer's hidden state after the last step. x has window * inputs columns.
  template <class T>
  Var<T> operator()(Var<T> x, Rng* noise = nullptr) const;

  std::size_t window;
  std::size_t inputs;
  std::vector<LstmLayer> layers;
  double dropout_rate = 0.0;
};

}  // namespace tare::nn
