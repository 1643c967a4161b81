// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/cache_aligned.h"
#include "index/dense/dense_kernels.h"

namespace tare {

/// Rows in single precision for the dense loops, with what is needed to bound the rounding. Columns
/// are centred, since the errors grow with the norms.
class DenseRows {
 public:
  /// `columns` holds the values column by column. `weights` is empty or positive; they are scaled
  /// so that the largest is 1.
  DenseRows(std::span<const double> columns, std::size_t rows, std::size_t dims,
            std::span<const double> weights);

  /// Whether there are rows and features, and neither these nor the weights are too far apart for
  /// single precision.
  bool usable() const noexcept { return usable_; }
  std::size_t rows() const noexcept { return rows_; }
  std::size_t dims() const noexcept { return dims_; }
  /// Whether they stay in the second-level cache, whatever the order in which they are looked at.
  bool in_cache() const noexcept { return values_.size() * sizeof(float) <= 512 * 1024; }
  std::size_t chunks() const noexcept { return (rows_ + kDenseChunk - 1) / kDenseChunk; }
  std::span<const double> means() const noexcept { return means_; }
  /// Norms after centring: the root of the mean square, and the largest.
  double typical_norm() const noexcept { return typical_norm_; }
  double largest_norm() const noexcept { return largest_norm_; }
  DenseRowsView view() const noexcept;

 private:
  void centre(std::span<const double> columns);
  void measure_norms();

  std::size_t rows_;
  std::size_t dims_;
  std::vector<double> means_;
  AlignedVector<float> values_;
  AlignedVector<float> low_;
  AlignedVector<float> norms_;
  AlignedVector<float> weights_;
  double typical_norm_ = 0.0;
  double largest_norm_ = 0.0;
  bool usable_ = false;
};

/// Up to kDenseBlock queries, ready for the dense loops.
class DenseQueries {
 public:
  DenseQueries(const DenseRows& rows, DenseMetric metric);

  /// False where the query is not finite or too large for single precision.
  bool set(std::size_t lane, std::span<const double> query);
  double norm(std::size_t lane) const { return root_norms_[lane]; }
  DenseMetric metric() const noexcept { return metric_; }
  DenseQueriesView view() const noexcept {
    return {values_.data(), low_.data(), norms_.data(), metric_};
  }

 private:
  std::span<const double> means_;
  DenseMetric metric_;
  AlignedVector<float> values_;
  AlignedVector<float> low_;
  AlignedVector<float> norms_;
  std::vector<double> root_norms_;
};

/// A pair of points, for error bounds: their norms after centring, and at most their distance.
struct DensePair {
  std::size_t dims = 1;
  double query_norm = 0.0;
  double row_norm = 0.0;
  double distance = 0.0;
};

/// No squared distance that the dense loops compute is farther from the true one than this.
double dense_squared_error(DenseMetric metric, const DensePair& pair);
/// The same for distances that were not computed by the product.
double dense_distance_error(DenseMetric metric, const DensePair& pair);

}  // namespace tare
