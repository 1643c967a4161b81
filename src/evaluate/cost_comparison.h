// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/decide/decision.h"

namespace tare {

/// The realised cost per row of a rule for actions.
struct RuleCost {
  double mean = 0.0;
  double error = 0.0;        // standard error of the mean
  double extra = 0.0;        // mean minus that of the rows' best actions
  double extra_error = 0.0;  // standard error of this difference, paired by row
};

/// What three rules cost on rows with known targets. Numbers are infinite if an action is.
struct CostComparison {
  std::string costs;  // "over=1,under=4", or "a table with 6 actions"
  std::size_t rows = 0;
  double expected = 0.0;    // of the best actions, as the model predicts it
  RuleCost action;          // the best action under the row's predicted distribution
  RuleCost mean;            // the best action for the mean of that distribution
  RuleCost margin;          // the same for the mean plus a constant; NaN for a single row
  double margin_low = 0.0;  // the constants of the folds lie between these
  double margin_high = 0.0;
};

/// Gathers rows batch by batch, and compares the rules.
///
/// The constant margin is chosen for each of five random folds of the rows from the other four: the
/// constant with the least cost there. So no row takes part in the choice of its own margin, but
/// the rule may learn from rows of the test set, which the model has not seen. For a table of costs
/// the constant is the best of 100: none, and the percentiles of target minus mean; on at most
/// 2,000 rows.
class CostTally {
 public:
  explicit CostTally(Cost cost);
  const Cost& cost() const noexcept { return decider_.cost(); }

  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});
  /// Throws kInvalidArgument where no row was added.
  CostComparison finish(Seed seed) const;

 private:
  double margin_of(std::span<const std::size_t> rows) const;
  double margin_of_table(std::span<const std::size_t> rows,
                         std::span<const double> ascending) const;

  Decider decider_;
  std::vector<double> y_;
  std::vector<double> mean_;  // of the row's distribution
  std::vector<double> expected_;
  std::vector<double> action_cost_;  // realised
  std::vector<double> mean_cost_;
};

}  // namespace tare
