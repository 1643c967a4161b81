// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "tare/base/matrix.h"

namespace tare {

/// Distances from a query to every row, computed for every row. Values are stored column by column,
/// so that the loop over rows is vectorised. It is the reference for every index.
class BruteForce {
 public:
  BruteForce() = default;
  /// Keeps rows order[0], order[1], ... of `rows`, in that order.
  BruteForce(MatrixView rows, std::span<const std::size_t> order);
  /// Takes over columns that were saved: `columns` holds dims * rows values.
  BruteForce(Buffer<double> columns, std::size_t rows, std::size_t dims);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t dims() const noexcept { return dims_; }
  std::span<const double> columns() const noexcept { return columns_; }
  std::vector<double> row(std::size_t i) const;

  /// out[i] = squared Euclidean distance of row i from the query; features are added in their
  /// order.
  void squared_distances(std::span<const double> query, std::span<double> out) const;

 private:
  Buffer<double> columns_;
  std::size_t rows_ = 0;
  std::size_t dims_ = 0;
};

}  // namespace tare
