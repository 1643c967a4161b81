// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/level_mlp.h"

#include <cassert>
#include <cmath>

#include "math/normal.h"
#include "model/nn/graph/operations.h"

namespace tare::nn {

void level_features(double tau, std::span<float> out) {
  out[0] = static_cast<float>(std::sqrt(12.0) * (tau - 0.5));
  out[1] = static_cast<float>(normal_quantile(tau));
}

LevelMlp::LevelMlp(Layout& layout, std::size_t inputs, std::span<const std::size_t> hidden)
    : row_weight(layout.add(inputs, hidden[0])),
      level_weight(layout.add(kLevelFeatures, hidden[0])),
      bias(layout.add(1, hidden[0])),
      rest(layout, hidden[0], hidden.subspan(1), 1) {}

void LevelMlp::initialise(std::span<float> parameters, Rng& rng) const {
  const double reach = 1.0 / std::sqrt(static_cast<double>(row_weight.rows + kLevelFeatures));
  for (const Block& block : {row_weight, level_weight, bias}) {
    for (float& value : block.of(parameters))
      value = static_cast<float>(rng.uniform(-reach, reach));
  }
  rest.initialise(parameters, rng);
}

Var<float> LevelMlp::of_rows(Var<float> x) const {
  return affine(x, x.graph().parameter(row_weight), x.graph().parameter(bias));
}

Var<float> LevelMlp::of_levels(Var<float> features) const {
  return matmul(features, features.graph().parameter(level_weight));
}

Var<float> LevelMlp::finish(Var<float> sums) const {
  assert(rest.activation == activation && "one activation for all layers");
  return rest(unary(activation, sums));
}

LevelEvaluation::LevelEvaluation(const LevelMlp& body, std::span<const float> parameters,
                                 std::span<const double> taus)
    : graph_(parameters), x(graph_.input(1, body.row_weight.rows)) {
  const Var<float> levels = graph_.input(taus.size(), kLevelFeatures);
  for (std::size_t k = 0; k < taus.size(); ++k) {
    level_features(taus[k], levels.value().subspan(k * kLevelFeatures, kLevelFeatures));
  }
  output = body.finish(body.of_rows(x) + body.of_levels(levels));
}

}  // namespace tare::nn
