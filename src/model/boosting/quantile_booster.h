// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/boosting/quantile_boosting.h"
#include "model/tree/binned_rows.h"
#include "model/tree/tree_training.h"

namespace tare {

/// What the members of a quantile boosting learn from, made once for all of them.
struct BoosterRows {
  BoosterRows(const TreeTraining& training, std::vector<std::size_t> parts, const Execution& how)
      : binned(training.x, training.columns.shift.size(), how),
        x(training.x),
        y(training.y),
        weight(training.weight),
        part(std::move(parts)) {}

  BinnedRows binned;
  std::span<const float> x, y, weight;
  std::vector<std::size_t> part;  // of the rows; a member holds out the rows of its own
};

/// Trees of one member, with a value for each level in each leaf, in the order of the nodes.
struct BoosterResult {
  std::vector<double> base;
  TreeNodes nodes;
  std::vector<float> leaf;
};

struct BoosterMember {
  std::size_t part = 0;  // of the rows, held out
  Seed seed;
};

/// Trains one member on the calling thread. The best round is the one with the lowest pinball loss
/// of the part held out, over all levels; where that has no rows, the 50th.
BoosterResult boost_quantiles(const BoosterRows& rows, std::span<const Level> levels,
                              const QuantileBoostingOptions& options, const BoosterMember& member,
                              const Execution& how);

}  // namespace tare
