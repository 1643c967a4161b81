// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "io/tensor_store.h"

namespace tare {

/// Where a row lies for the kernel. The first kNear coordinates say how large its error may be, the
/// others what its surroundings were.
inline constexpr std::size_t kKernelDims = 7;
inline constexpr std::size_t kNearDims = 2;
using KernelPoint = std::array<float, kKernelDims>;

/// Trailing rows of a stream in the order of their residuals, and the quantiles of the residual
/// near a point. Adding a row and forgetting the oldest moves the rows in between; nothing is
/// sorted or built anew.
///
/// A *window* is a way to weigh the rows: a Gaussian kernel on the first coordinates or on all of
/// them with one of four bandwidths, or no kernel; and with or without a discount of older rows.
class LocalRows {
 public:
  static constexpr std::size_t kBandwidths = 4;
  static constexpr std::size_t kKernels = 2 * kBandwidths + 1;
  static constexpr std::size_t kWindows = 2 * kKernels;

  /// `rows` at most, 2 or more.
  explicit LocalRows(std::size_t rows);

  std::size_t size() const noexcept { return residuals_.size(); }
  void clear();
  /// Adds a row, and forgets the oldest if there are too many.
  void add(std::uint64_t time, double residual, const KernelPoint& point);

  /// Sums of weights for a point; reused from point to point.
  struct Weights {
    std::vector<float> near;                           // of each row, with the largest bandwidth
    std::vector<float> around;                         // the same with all coordinates
    std::vector<std::array<double, kWindows>> blocks;  // sums up to the end of each block
    std::array<double, kWindows> totals = {};
  };
  /// Needs a row.
  void weigh(const KernelPoint& point, Weights& weights) const;
  /// The residual at which the cumulative weight of a window reaches `level` of the total,
  /// interpolated between rows.
  double quantile(const Weights& weights, std::size_t window, double level) const;
  /// (sum w)^2 / sum w^2. O(rows).
  double effective_rows(const Weights& weights, std::size_t window) const;

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  std::size_t take_oldest();  // forgets when it came, and returns its place
  void rebase(std::uint64_t time);
  float weight(const Weights& weights, std::size_t window, std::size_t row) const;

  std::size_t most_;
  std::vector<double> residuals_;  // ascending
  std::vector<std::int64_t> times_;
  std::vector<float> recency_;  // exp((time - base_) / kForgetRows)
  std::array<std::vector<float>, kKernelDims> point_;
  std::deque<std::pair<std::int64_t, double>> arrivals_;  // time and residual
  std::int64_t base_ = 0;
};

}  // namespace tare
