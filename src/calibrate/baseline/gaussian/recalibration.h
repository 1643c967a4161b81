// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/level.h"

namespace tare {

/// From the level that is asked to the one that answers it: the inverse of the isotonic regression
/// of observed on nominal levels (Kuleshov et al. 2018), for laws that are normal at each row.
///
/// A held-out row has the score z = (y - mean) / sd and with it the nominal level Phi(z). The i-th
/// smallest of n is observed at level i / (n + 1), which is where the next row of the same kind
/// falls below it; with weights, cumulative weight over total plus average. These points ascend,
/// and so are their own isotonic regression. Between two of them, and from the outermost to (0, 0)
/// and (1, 1), the map is a line: beyond the last row the law has the network's own tail, scaled to
/// the probability that is left. So every level is reachable and finite, and at level tau the share
/// of such rows below the answer is within 1 / (n + 1) of tau on average.
class Recalibration {
 public:
  /// Scores of at least one held-out row, no NaN. `weight` is empty or positive, one for each.
  Recalibration(std::span<const double> scores, std::span<const double> weight);

  /// The score that answers a level: finite, and does not decrease with it.
  double score(Level level) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static Recalibration load(const TensorReader& in);

 private:
  Recalibration() = default;

  std::vector<double> score_;     // ascending
  std::vector<double> observed_;  // ascending, in [0, 1)
};

}  // namespace tare
