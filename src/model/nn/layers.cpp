// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/layers.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/strings.h"
#include "base/unknown_name.h"
#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

constexpr std::pair<std::string_view, Unary> kActivations[] = {{"leaky_relu", Unary::kLeakyRelu},
                                                               {"relu", Unary::kRelu},
                                                               {"silu", Unary::kSilu},
                                                               {"tanh", Unary::kTanh},
                                                               {"sigmoid", Unary::kSigmoid}};

template <class T>
void draw_uniform(std::span<T> values, double reach, Rng& rng) {
  for (T& value : values) value = static_cast<T>(rng.uniform(-reach, reach));
}

template <class T>
Var<T> with_dropout(Var<T> x, double rate, Rng* noise) {
  return noise == nullptr || rate == 0.0 ? x : dropout(x, rate, *noise);
}

/// One over the square root; a layer without inputs has only a bias, which then starts within 1.
double reach_of(std::size_t count) {
  return 1.0 / std::sqrt(static_cast<double>(count == 0 ? 1 : count));
}

}  // namespace

Unary activation_by_name(std::string_view name) {
  const std::string sought = canonical_name(name);
  std::vector<std::string> known;
  for (const auto& [spelling, f] : kActivations) {
    if (spelling == sought) return f;
    known.emplace_back(spelling);
  }
  fail_unknown_name(ErrorCode::kInvalidArgument, "activation", name, known, "activation");
}

std::string_view name_of_activation(Unary f) {
  for (const auto& [spelling, known] : kActivations) {
    if (known == f) return spelling;
  }
  assert(false && "not an activation");
  return {};
}

Dense::Dense(Layout& layout, std::size_t inputs, std::size_t outputs)
    : weight(layout.add(inputs, outputs)), bias(layout.add(1, outputs)) {}

template <class T>
void Dense::initialise(std::span<T> parameters, Rng& rng) const {
  const double reach = reach_of(weight.rows);
  draw_uniform(weight.of(parameters), reach, rng);
  draw_uniform(bias.of(parameters), reach, rng);
}

template <class T>
Var<T> Dense::operator()(Var<T> x) const {
  return affine(x, x.graph().parameter(weight), x.graph().parameter(bias));
}

Mlp::Mlp(Layout& layout, std::size_t inputs, std::span<const std::size_t> hidden,
         std::size_t outputs) {
  std::size_t width = inputs;
  for (const std::size_t units : hidden) {
    layers.emplace_back(layout, width, units);
    width = units;
  }
  layers.emplace_back(layout, width, outputs);
}

template <class T>
void Mlp::initialise(std::span<T> parameters, Rng& rng) const {
  for (const Dense& layer : layers) layer.initialise(parameters, rng);
}

template <class T>
Var<T> Mlp::features(Var<T> x, Rng* noise) const {
  for (std::size_t k = 0; k + 1 < layers.size(); ++k) {
    x = with_dropout(unary(activation, layers[k](x)), dropout_rate, noise);
  }
  return x;
}

template <class T>
Var<T> Mlp::operator()(Var<T> x, Rng* noise) const {
  return layers.back()(features(x, noise));
}

LstmLayer::LstmLayer(Layout& layout, std::size_t inputs, std::size_t units)
    : input(layout.add(inputs, 4 * units)),
      recurrent(layout.add(units, 4 * units)),
      bias(layout.add(1, 4 * units)) {}

template <class T>
void LstmLayer::initialise(std::span<T> parameters, Rng& rng) const {
  const std::size_t units = recurrent.rows;
  const double reach = reach_of(units);
  draw_uniform(input.of(parameters), reach, rng);
  draw_uniform(recurrent.of(parameters), reach, rng);
  draw_uniform(bias.of(parameters), reach, rng);
  for (T& value : bias.of(parameters).subspan(units, units)) value += T(1);
}

template <class T>
std::vector<Var<T>> LstmLayer::operator()(std::span<const Var<T>> steps) const {
  Graph<T>& graph = steps[0].graph();
  const std::size_t units = recurrent.rows;
  const Var<T> w = graph.parameter(input);
  const Var<T> u = graph.parameter(recurrent);
  const Var<T> b = graph.parameter(bias);
  Var<T> cell = graph.input(steps[0].rows(), units);  // nobody writes it: zero
  std::vector<Var<T>> hidden;
  for (const Var<T>& x : steps) {
    const Var<T> gates = hidden.empty() ? affine(x, w, b) : affine(x, w, hidden.back(), u, b);
    const Var<T> state = lstm_cell(gates, cell);
    hidden.push_back(slice_cols(state, 0, units));
    cell = slice_cols(state, units, units);
  }
  return hidden;
}

Lstm::Lstm(Layout& layout, std::size_t steps, std::size_t features,
           std::span<const std::size_t> units)
    : window(steps), inputs(features) {
  std::size_t width = features;
  for (const std::size_t count : units) {
    layers.emplace_back(layout, width, count);
    width = count;
  }
}

template <class T>
void Lstm::initialise(std::span<T> parameters, Rng& rng) const {
  for (const LstmLayer& layer : layers) layer.initialise(parameters, rng);
}

template <class T>
Var<T> Lstm::operator()(Var<T> x, Rng* noise) const {
  std::vector<Var<T>> steps;
  for (std::size_t t = 0; t < window; ++t) steps.push_back(slice_cols(x, t * inputs, inputs));
  for (const LstmLayer& layer : layers) {
    steps = layer(std::span<const Var<T>>(steps));
    for (Var<T>& step : steps) step = with_dropout(step, dropout_rate, noise);
  }
  return steps.back();
}

#define TARE_NN_DEFINE(T)                                                            \
  template void Dense::initialise(std::span<T>, Rng&) const;                         \
  template Var<T> Dense::operator()(Var<T>) const;                                   \
  template void Mlp::initialise(std::span<T>, Rng&) const;                           \
  template Var<T> Mlp::features(Var<T>, Rng*) const;                                 \
  template Var<T> Mlp::operator()(Var<T>, Rng*) const;                               \
  template void LstmLayer::initialise(std::span<T>, Rng&) const;                     \
  template std::vector<Var<T>> LstmLayer::operator()(std::span<const Var<T>>) const; \
  template void Lstm::initialise(std::span<T>, Rng&) const;                          \
  template Var<T> Lstm::operator()(Var<T>, Rng*) const;
TARE_NN_DEFINE(float)
TARE_NN_DEFINE(double)
#undef TARE_NN_DEFINE

}  // namespace tare::nn
