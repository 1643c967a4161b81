// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/snq/shards/fixed_sum.h"
#include "calibrate/snq/window/local_sample.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/math/kernel.h"

namespace tare {

/// The rows around each query and the unit of their weights. All arrays have an entry per query.
struct ShardWindows {
  MatrixView z;
  /// Rows within this squared distance have the weight 1; NaN: the kernel's weights.
  std::span<const double> reach2;
  /// Weights are rounded down to whole multiples of 2^exponent, of which they are at most
  /// 2^kFixedBits. 0 is for weights that are whole numbers.
  std::span<const std::int32_t> exponent;
};

/// A quantile that lies in a shard: the row of window `query` at which the cumulative weight within
/// the shard reaches `target`.
struct ShardPick {
  std::uint32_t query = 0;
  FixedSum target = 0;
};

/// Squared distances of one query that lie in (low, high], ascending, and the number of rows up to
/// low.
struct DistancesBetween {
  std::uint64_t below = 0;
  std::vector<double> squared;
};

/// Calibration rows whose residuals lie in one range, in the order of their residuals. All that it
/// answers are whole numbers, distances or residuals, so that answers of several shards are put
/// together without rounding: how the rows are distributed among shards changes no bit.
///
/// Immutable; every function may be called from several threads at once.
class Shard {
 public:
  /// z: kernel features, a row per calibration row; u: residuals, in any order; weight: empty, or
  /// not negative. Throws kShapeMismatch, and kInvalidArgument for a value that is not finite.
  Shard(MatrixView z, std::span<const double> u, std::span<const double> weight, KernelKind kernel,
        double bandwidth);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t dims() const noexcept { return dims_; }

  std::vector<WindowSums> sums(const ShardWindows& windows, const Execution& how) const;
  /// The largest weight of a row in each window, before any rounding; 0 without rows.
  std::vector<double> largest_weights(const ShardWindows& windows, const Execution& how) const;
  /// Squared distance of the row of each rank (ascending, from 1) among the nearest; infinite where
  /// there are fewer rows.
  Matrix distances(MatrixView z, std::span<const std::size_t> ranks, const Execution& how) const;
  std::vector<DistancesBetween> between(MatrixView z, std::span<const double> low,
                                        std::span<const double> high, const Execution& how) const;
  /// Residuals of picks, whose queries ascend, and within a query their targets. Throws
  /// kInvalidArgument where a target exceeds the window's sum.
  std::vector<double> pick(const ShardWindows& windows, std::span<const ShardPick> picks,
                           const Execution& how) const;

 private:
  struct Memory;
  void weigh(const LocalSample& block, const ShardWindows& windows, std::size_t query,
             Memory& memory) const;
  std::uint64_t count_within(const LocalSample& block, const ShardWindows& windows,
                             std::size_t query, Memory& memory) const;
  void weigh_in_units(const LocalSample& block, const ShardWindows& windows, std::size_t query,
                      Memory& memory) const;
  void check(MatrixView z) const;

  std::vector<LocalSample> blocks_;  // that fit the processor's cache
  std::size_t rows_ = 0;
  std::size_t dims_ = 0;
  KernelKind kernel_;
  double bandwidth_;
};

}  // namespace tare
