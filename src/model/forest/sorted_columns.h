// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/execution.h"

namespace tare {

/// Rows column by column, with the order of the rows by each column: what exact trees are grown on.
/// Sorted once for all trees of a forest.
class SortedColumns {
 public:
  /// x row-major and finite, with at least one column and fewer than 2^32 rows.
  SortedColumns(std::span<const float> x, std::size_t cols, const Execution& how);

  std::size_t rows() const noexcept { return rows_; }
  std::size_t cols() const noexcept { return cols_; }
  /// The values of a column, by row.
  std::span<const float> values(std::size_t column) const {
    return std::span(values_).subspan(column * rows_, rows_);
  }
  /// The rows by ascending value; equal values in the order of the rows.
  std::span<const std::uint32_t> order(std::size_t column) const {
    return std::span(order_).subspan(column * rows_, rows_);
  }

 private:
  std::size_t rows_;
  std::size_t cols_;
  std::vector<float> values_;
  std::vector<std::uint32_t> order_;
};

}  // namespace tare
