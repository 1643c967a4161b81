// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// A partition of the features' space into boxes with about the same number of training rows.
///
/// A box is halved at the median of the column for which the targets of both halves differ most:
/// by the largest difference of their distribution functions (Kolmogorov and Smirnov), the first
/// column where several are equal. A box in which no column can be halved stays whole.
class MedianCells {
 public:
  /// One cell.
  MedianCells() : column_{-1}, cut_{0.0}, right_{0} {}
  /// Halves all boxes `depth` times, except those that would leave fewer than `least` rows.
  MedianCells(MatrixView x, std::span<const double> y, std::size_t depth, std::size_t least,
              const Execution& how);

  std::size_t cells() const { return cells_; }
  std::size_t cell_of(std::span<const double> x) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile unless every cut is in one of `features` columns.
  static MedianCells load(const TensorReader& in, std::size_t features);

 private:
  void number_cells();

  // A node's first child follows it, with rows up to and at the cut; right_ is the other.
  std::vector<std::int32_t> column_;  // -1: a cell
  std::vector<double> cut_;
  std::vector<std::int32_t> right_;
  std::vector<std::size_t> cell_;  // of each node that is a cell, in the order of the nodes
  std::size_t cells_ = 1;
};

}  // namespace tare
