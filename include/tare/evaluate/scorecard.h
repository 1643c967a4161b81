// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/evaluate/score_table.h"
#include "tare/evaluate/target_jumps.h"

namespace TARE_PUBLIC tare {

/// The scores of `tare evaluate` for a model on rows with known targets: a value for each row of
/// score_table(), in its order. A tie counts by the share of its jump (target_jumps.h), estimated
/// from all Scorecard::levels(); scores named `counted` count a tie as below its quantile, and as
/// inside its interval.
struct Scores {
  std::size_t rows = 0;
  std::vector<double> pit;                    // shares of 20 equal bins
  std::vector<std::optional<double>> values;  // nothing if the model does not have it

  /// The value of that name. Throws kInvalidArgument for a name that is not in the table.
  std::optional<double> find(std::string_view name) const;
  /// The same as a number; NaN if the model does not have the score.
  double at(std::string_view name) const;
  void set(std::string_view name, double value);
};

/// Scores a model batch by batch. Memory: about a kilobyte per row.
class Scorecard {
 public:
  static constexpr double kConfidence = 0.9;  // of the interval that is scored

  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});
  /// The same from a prediction whose first columns are at levels(); more columns may follow.
  void add(const Prediction& prediction, std::span<const double> y);
  /// Adds effective_n to a prediction before add(): for its first rows, until 2,000 are known, and
  /// only for a model with bands.
  void add_effective_n(const QuantileModel& model, const Rows& rows, const Execution& how,
                       Prediction& prediction) const;
  /// The levels that the scores need, in this order.
  static std::span<const Level> levels();
  /// Throws kInvalidArgument if no row was added. The seed is for AGCE's groups and floor.
  Scores finish(Seed seed) const;

 private:
  std::vector<double> y_;
  std::vector<TargetJump> jumps_;
  std::vector<double> quantiles_;  // rows x metric levels
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> effective_n_;
  std::vector<double> pit_sum_;
  double crps_sum_ = 0.0;
  std::size_t fallback_rows_ = 0;
};

}  // namespace tare
