// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/decide/cost.h"

namespace TARE_PUBLIC tare {

/// The 241 levels at which a row's distribution is evaluated: steps of 0.005, of 0.0025 from 0.05
/// outwards, of 0.001 from 0.01 outwards, and five more on each side down to 0.000001.
std::span<const Level> law_levels();

/// The best action for one row, and what it is expected to cost.
struct Decision {
  double action = 0.0;
  double cost = 0.0;            // expected
  double mean = 0.0;            // of the row's distribution
  double action_of_mean = 0.0;  // the best one if the outcome were the mean for sure
  double cost_of_mean = 0.0;    // expected, of that action
  bool infinite_tail = false;   // an infinite quantile was replaced
  bool outside_table = false;   // more than 1 % of the distribution is beyond the table's outcomes
};

/// Decides for one row at a time from its quantiles. All expectations are exact for this
/// distribution: the quantile function is the straight line between neighbouring levels, or a jump
/// in their middle between two values with a mass each; beyond the outermost levels it is constant.
/// An infinite quantile, as of a guarantee with few rows, is replaced by the nearest finite one of
/// the row. If no quantile is finite, all expectations are NaN.
///
/// May be used from several threads at once.
class Decider {
 public:
  explicit Decider(Cost cost);

  const Cost& cost() const noexcept { return cost_; }
  /// Whose quantiles it needs, ascending: law_levels() and the cost's own.
  const std::vector<Level>& levels() const noexcept { return levels_; }

  /// Throws kShapeMismatch unless there is a quantile for each of levels().
  Decision decide(std::span<const double> quantiles) const;

  /// The action that is best for an outcome that is known, and what it costs then.
  double action_for(double outcome) const;
  double realised_cost(double action, double outcome) const;

 private:
  Cost cost_;
  std::vector<Level> levels_;
  std::vector<double> widths_;  // of the steps from 0 over the levels to 1
  std::size_t best_ = 0;        // the place of the cost's own level
  double lowest_ = 0.0;         // outcome of a table
  double highest_ = 0.0;
};

}  // namespace tare
