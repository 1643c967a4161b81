// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "model/nn/layers.h"

namespace tare::nn {

/// Features of a level tau as a network sees them: sqrt(12) (tau - 1/2) and the normal quantile of
/// tau. Both have mean 0 and standard deviation 1 for a uniform tau, as standardised columns have.
inline constexpr std::size_t kLevelFeatures = 2;
/// `tau` in (0, 1); `out` has kLevelFeatures places.
void level_features(double tau, std::span<float> out);

/// An Mlp on (x, level) whose first layer keeps the two apart, so that what it makes of a row is
/// computed once for all of the row's levels. One output.
struct LevelMlp {
  /// `hidden` has at least one layer.
  LevelMlp(Layout& layout, std::size_t inputs, std::span<const std::size_t> hidden);
  /// As one Dense layer of inputs + kLevelFeatures columns would be.
  void initialise(std::span<float> parameters, Rng& rng) const;

  /// The first layer's sums without the level: rows x units.
  Var<float> of_rows(Var<float> x) const;
  /// The level's share in these sums.
  Var<float> of_levels(Var<float> features) const;
  /// From their sum to the output.
  Var<float> finish(Var<float> sums) const;

  Block row_weight;    // inputs x units
  Block level_weight;  // kLevelFeatures x units
  Block bias;
  Mlp rest;
  Unary activation = Unary::kLeakyRelu;
};

/// One row at a time at all of some levels. Write `x`, call run(), read `output`. A row's output
/// does not depend on the rows before it. The parameters must outlive it.
class LevelEvaluation {
 public:
  LevelEvaluation(const LevelMlp& body, std::span<const float> parameters,
                  std::span<const double> taus);
  void run() { graph_.forward(); }

 private:
  Graph<float> graph_;

 public:
  Var<float> x;       // 1 x inputs
  Var<float> output;  // levels x 1
};

}  // namespace tare::nn
