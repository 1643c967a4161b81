// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "index/brute_force.h"
#include "math/weighted_quantile.h"
#include "tare/base/level.h"
#include "tare/calibrate/snq.h"

namespace tare {

class RankRule;

// Notation (section 3 of the paper): z features of the kernel, u residuals, h bandwidth, tau level.

/// The squared distance up to which rows are tied with one at reach2: see SnqOptions.
inline double tied_reach(double reach2, double tie_tolerance) {
  return reach2 * (1.0 + tie_tolerance);
}

/// Rows of positive weight in the order of their residuals; equal ones keep their order.
std::vector<std::size_t> residual_order(std::span<const double> u, std::span<const double> weight);

/// Calibration rows in the order of their residuals, and the steps of one query on them. Keeping
/// that order means that no query ever sorts: a quantile is a walk along cumulative weights.
class LocalSample {
 public:
  /// Rows of zero weight are left out. Inputs are checked by Snq.
  LocalSample(MatrixView z, std::span<const double> u, std::span<const double> weight);
  /// The same, with the residual_order of the rows.
  LocalSample(MatrixView z, std::span<const double> u, std::span<const double> weight,
              std::span<const std::size_t> order);
  LocalSample(BruteForce features, Buffer<double> residuals, Buffer<double> weights);

  // No distance is larger than kFarthestRow, so a row that is left out stays recognisable even
  // where the features are so large that their squares overflow.
  static constexpr double kFarthestRow = 1e299;

  std::size_t rows() const noexcept { return residuals_.size(); }
  std::size_t dims() const noexcept { return features_.dims(); }
  const BruteForce& features() const noexcept { return features_; }
  std::span<const double> residuals() const noexcept { return residuals_; }
  std::span<const double> weights() const noexcept { return weights_; }  // empty: all 1
  double largest_weight() const noexcept { return largest_weight_; }

  /// Some of the rows as a separate sample, in which the same rows are within the bandwidth.
  /// `columns` and the others are as in the constructor and must outlive what is returned.
  LocalSample part(std::span<const double> columns, std::span<const double> residuals,
                   std::span<const double> weights) const;

  /// What one query needs; reused from query to query, one per thread.
  struct Scratch {
    std::vector<double> squared_distance;
    std::vector<double> weight;
    std::vector<double> selection;
    std::vector<std::size_t> places;
    std::vector<double> values;
    WeightSums sums;
    WeightType type = WeightType::kReal;
  };
  struct Support {
    double effective_n = 0.0;
    bool fallback = false;
  };

  /// Step one: distances to all rows. Returns the smallest.
  double measure(std::span<const double> z, Scratch& scratch) const;
  /// Moves a row out of every window, for leave-one-out.
  void leave_out(std::size_t place, Scratch& scratch) const;
  /// Moves all rows farther than sqrt(reach2) out of every window.
  void leave_out_beyond(double reach2, Scratch& scratch) const;
  /// Step two: weights and their sums. False if no row is within the bandwidth.
  bool weigh_in_reach(const SnqOptions& options, Scratch& scratch) const;
  /// The same with equal weight for the `count` nearest rows, ties included.
  void weigh_nearest(std::size_t count, double tie_tolerance, Scratch& scratch) const;
  /// Both steps: the rows within the bandwidth, or the fallback.
  Support weigh(const SnqOptions& options, Scratch& scratch) const;
  /// Step three: the quantiles at ascending levels, by the paper's rule or another.
  void quantiles(std::span<const Level> levels, Scratch& scratch, std::span<double> out) const;
  void quantiles(RankRule& rule, Scratch& scratch, std::span<double> out) const;

 private:
  void window_of_nearest(std::size_t count, double tie_tolerance, Scratch& scratch) const;
  void apply_sample_weights(Scratch& scratch) const;
  void check_weights();
  LocalSample() = default;

  BruteForce features_;
  Buffer<double> residuals_;  // ascending
  Buffer<double> weights_;
  double largest_weight_ = 1.0;
  WeightType weight_type_ = WeightType::kWhole;
};

}  // namespace tare
