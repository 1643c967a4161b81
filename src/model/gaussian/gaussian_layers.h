// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/nn/gaussian_loss.h"
#include "model/nn/graph/parameters.h"
#include "model/nn/layers.h"
#include "model/nn/regression.h"
#include "tare/base/rng.h"

namespace tare {

/// The shape of a network with a mean and an sd head.
struct GaussianShape {
  std::size_t features = 0;
  std::size_t window = 0;          // steps of a recurrent body; 0: a feed-forward one
  std::vector<std::size_t> units;  // of each hidden layer, or cells of each recurrent one
  nn::Unary activation = nn::Unary::kLeakyRelu;  // of a feed-forward body
  double dropout = 0.0;                          // after each hidden layer, in [0, 1)
  double sd_floor = 1e-3;                        // least sd, in units of the target's own
};

/// The layers of a shape: they hold offsets of parameters, not values. The two heads are columns of
/// one linear layer on a common body; the sd is softplus of its column plus the floor. Not to be
/// moved while a network() of it is in use.
class GaussianLayers {
 public:
  explicit GaussianLayers(const GaussianShape& shape);

  std::size_t parameters() const { return layout_.size(); }

  /// Like the layers' own initialisation, except for the sd head, whose bias starts at an sd of 1:
  /// a network then starts near the target's marginal distribution, not with an sd that is too
  /// small for its errors.
  void initialise(std::span<float> values, Rng& rng) const;
  /// All parameters are 0 except one: the answer is the target's mean and sd.
  std::vector<float> marginal() const;

  nn::NormalHeads<float> heads(nn::Var<float> x, Rng* noise) const;
  /// Both heads before softplus, for evaluation; sd_of makes the second an sd.
  nn::Network network() const;
  double sd_of(float head) const;

  /// The parameters of the network that is left when hidden units are dropped at random, and the
  /// others made larger for it: weights that lead out of a dropped unit are 0. Every row then sees
  /// the same units, as no mask of the dropout operation allows; a recurrent body drops the same
  /// ones at each step.
  std::vector<float> thinned(std::span<const float> parameters, Rng& rng) const;

  /// visit(name of the part, name of the tensor, block) in the order of the layout.
  template <class Visit>
  void each_block(Visit visit) const {
    if (lstm_) {
      for (std::size_t k = 0; k < lstm_->layers.size(); ++k) {
        const std::string part = "lstm" + std::to_string(k);
        visit(part, "input", lstm_->layers[k].input);
        visit(part, "recurrent", lstm_->layers[k].recurrent);
        visit(part, "bias", lstm_->layers[k].bias);
      }
    }
    for (std::size_t k = 0; k < mlp_.layers.size(); ++k) {
      const std::string part = "layer" + std::to_string(k);
      visit(part, "weight", mlp_.layers[k].weight);
      visit(part, "bias", mlp_.layers[k].bias);
    }
  }

 private:
  nn::Layout layout_;
  std::optional<nn::Lstm> lstm_;
  nn::Mlp mlp_;  // the whole of a feed-forward network, or the heads on a recurrent body
  double dropout_;
  double sd_floor_;
};

}  // namespace tare
