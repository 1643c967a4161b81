// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// Everything `tare evaluate` says about a model on rows with known targets.
struct Scores {
  std::size_t rows = 0;
  double mace = 0.0;
  double mace_floor = 0.0;
  double agce = 0.0;
  double agce_floor = 0.0;
  double check_score = 0.0;
  double crps = 0.0;
  double length_90 = 0.0;
  double coverage_90 = 0.0;
  double winkler_90 = 0.0;
  std::optional<double> effective_n_median;  // none for a method without a neighbourhood
  std::size_t fallback_rows = 0;
  std::vector<double> pit;  // shares of 20 equal bins
  /// How often a target is exactly the quantile: above 0 for counts, grades and other targets that
  /// many rows share. MACE counts these as below, so that a perfect forecaster's is then about half
  /// of this.
  double hit_share = 0.0;
};

/// Scores a model batch by batch. Memory: about a kilobyte per row.
class Scorecard {
 public:
  void add(const QuantileModel& model, const Rows& rows, std::span<const double> y,
           const Execution& how = {});
  /// The same from a prediction whose first columns are at levels(): others may follow.
  void add(const Prediction& prediction, std::span<const double> y);
  /// The levels that the scores need, in this order.
  static std::span<const Level> levels();
  /// Throws kInvalidArgument where no row was added. The seed is that of AGCE's groups and floor.
  Scores finish(Seed seed) const;

 private:
  std::vector<double> y_;
  std::vector<double> quantiles_;  // rows x metric levels
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> effective_n_;
  std::vector<double> pit_sum_;
  double crps_sum_ = 0.0;
  std::size_t fallback_rows_ = 0;
};

}  // namespace tare
