// SPDX-License-Identifier: BSD-3-Clause
#include "model/gaussian/gaussian_layers.h"

#include <algorithm>
#include <cmath>

#include "model/nn/graph/operations.h"

namespace tare {
namespace {

std::optional<nn::Lstm> recurrent_body(const GaussianShape& shape, nn::Layout& layout) {
  if (shape.window == 0) return std::nullopt;
  nn::Lstm lstm(layout, shape.window, shape.features / shape.window, shape.units);
  lstm.dropout_rate = shape.dropout;
  return lstm;
}

nn::Mlp feed_forward_part(const GaussianShape& shape, nn::Layout& layout) {
  const bool recurrent = shape.window > 0;
  const std::span<const std::size_t> hidden = shape.units;
  nn::Mlp mlp(layout, recurrent ? shape.units.back() : shape.features,
              recurrent ? hidden.first(0) : hidden, 2);
  mlp.activation = shape.activation;
  mlp.dropout_rate = shape.dropout;
  return mlp;
}

/// Keeps a row of weights with probability 1 - rate, and then divides it by that.
void thin_rows(std::span<float> values, const nn::Block& block, double rate, Rng& rng) {
  const auto kept = static_cast<float>(1.0 / (1.0 - rate));
  for (std::size_t j = 0; j < block.rows; ++j) {
    const float factor = rng.uniform() < rate ? 0.0F : kept;
    for (float& weight : block.of(values).subspan(j * block.cols, block.cols)) weight *= factor;
  }
}

}  // namespace

GaussianLayers::GaussianLayers(const GaussianShape& shape)
    : lstm_(recurrent_body(shape, layout_)),
      mlp_(feed_forward_part(shape, layout_)),
      dropout_(shape.dropout),
      sd_floor_(shape.sd_floor) {}

std::vector<float> GaussianLayers::marginal() const {
  std::vector<float> values(parameters(), 0.0F);
  // softplus(log(e^s - 1)) = s
  mlp_.layers.back().bias.of(std::span(values))[1] =
      static_cast<float>(std::log(std::expm1(1.0 - sd_floor_)));
  return values;
}

void GaussianLayers::initialise(std::span<float> values, Rng& rng) const {
  if (lstm_) lstm_->initialise(values, rng);
  mlp_.initialise(values, rng);
  const nn::Block& bias = mlp_.layers.back().bias;
  const std::vector<float> start = marginal();
  std::ranges::copy(bias.of(std::span(start)), bias.of(values).begin());
}

nn::NormalHeads<float> GaussianLayers::heads(nn::Var<float> x, Rng* noise) const {
  const nn::Var<float> both = mlp_(lstm_ ? (*lstm_)(x, noise) : x, noise);
  return {nn::slice_cols(both, 0, 1),
          nn::softplus(nn::slice_cols(both, 1, 1)) + static_cast<float>(sd_floor_)};
}

nn::Network GaussianLayers::network() const {
  nn::Network network;
  network.parameters = parameters();
  network.initialise = [this](std::span<float> values, Rng& rng) { initialise(values, rng); };
  network.output = [this](nn::Var<float> x, Rng* noise) {
    return mlp_(lstm_ ? (*lstm_)(x, noise) : x, noise);
  };
  return network;
}

double GaussianLayers::sd_of(float head) const {
  const auto value = static_cast<double>(head);
  return std::max(value, 0.0) + std::log1p(std::exp(-std::abs(value))) + sd_floor_;
}

std::vector<float> GaussianLayers::thinned(std::span<const float> parameters, Rng& rng) const {
  std::vector<float> values(parameters.begin(), parameters.end());
  if (lstm_) {
    for (std::size_t k = 1; k < lstm_->layers.size(); ++k)
      thin_rows(values, lstm_->layers[k].input, dropout_, rng);
  }
  for (std::size_t k = lstm_ ? 0 : 1; k < mlp_.layers.size(); ++k)
    thin_rows(values, mlp_.layers[k].weight, dropout_, rng);
  return values;
}

}  // namespace tare
