// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "online/snq/kernel_search.h"
#include "online/snq/kernel_sums.h"

namespace tare {

/// Trailing rows of a stream in the order of their residuals, and the quantiles of the residual
/// near a point. Adding a row and forgetting the oldest moves the rows in between; nothing is
/// sorted or built anew.
class LocalRows {
 public:
  /// `rows` at most, 2 or more. Starts without a season.
  explicit LocalRows(std::size_t rows);

  std::size_t size() const noexcept { return residuals_.size(); }
  /// Forgets all rows. Of the next ones the first `dims` coordinates count: kDimsWithoutSeason or
  /// kKernelDims.
  void clear(std::size_t dims);
  /// Adds a row, and forgets the oldest if there are too many.
  void add(std::uint64_t time, double residual, const KernelPoint& point);

  using Weights = KernelSums;
  /// Needs a row.
  void weigh(const KernelPoint& point, Weights& weights) const;
  /// The residual at which the cumulative weight of a window reaches `level` of the total,
  /// interpolated between rows.
  double quantile(const Weights& weights, std::size_t window, double level) const;
  struct WindowLevel {
    std::size_t window = 0;
    double level = 0.0;
  };
  /// The same for several, which is faster than one after the other.
  void quantiles(const Weights& weights, std::span<const WindowLevel> asked,
                 std::span<double> out) const;
  /// (sum w)^2 / sum w^2. O(rows).
  double effective_rows(const Weights& weights, std::size_t window) const;

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  KernelRows kernel_rows() const;
  std::size_t take_oldest();  // forgets that it came, and returns its place
  void rebase(std::int64_t now);
  void sum_recency(std::size_t first_row, std::size_t last_row);

  std::size_t most_;
  std::size_t dims_ = kDimsWithoutSeason;
  std::vector<double> residuals_;  // ascending; of equal ones the oldest first
  // Beside them, and with what KernelRows needs behind the last row.
  AlignedVector<float> recency_;     // exp((time - base_) / kForgetRows)
  std::vector<float> recency_sums_;  // of each block: they do not depend on the point
  std::array<AlignedVector<float>, kKernelDims> point_;
  std::deque<double> arrivals_;  // residuals as they came
  std::int64_t base_ = 0;
};

}  // namespace tare
