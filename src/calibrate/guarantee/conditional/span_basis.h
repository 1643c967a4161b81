// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"

namespace tare {

/// Independent combinations of the columns of a matrix, with second moments of one on its rows and
/// none between them: the columns that a Cholesky factorisation with pivots takes, times the
/// inverse of the factor. The first column is taken first.
class SpanBasis {
 public:
  SpanBasis() = default;
  explicit SpanBasis(MatrixView columns);

  std::size_t inputs() const noexcept { return center_.size(); }
  std::size_t dims() const noexcept { return taken_.size(); }
  /// `result` has dims() entries. False where another column is not the combination of the taken
  /// ones that it was on the matrix, or where a number is not finite.
  bool apply(std::span<const double> row, std::span<double> result) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static SpanBasis load(const TensorReader& in, std::size_t inputs);

 private:
  std::vector<double> center_, scale_;  // of each column
  std::vector<std::size_t> taken_;      // in the order of the pivots
  std::vector<std::size_t> left_;       // columns that depend on them
  Matrix factor_;                       // lower triangle over the taken columns, then the others'
};

}  // namespace tare
