// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// The Cholesky factor L of a positive definite matrix, and solutions by it in parallel. Results do
/// not depend on the threads.
class LowerFactor {
 public:
  /// Of `a`, whose lower triangle counts. ok() is false if it is not positive definite.
  explicit LowerFactor(Matrix a);

  bool ok() const noexcept { return ok_; }
  std::size_t size() const noexcept { return l_.rows(); }
  double log_determinant() const;
  /// (L L')^-1 b.
  std::vector<double> solve(std::vector<double> b) const;
  /// (L L')^-1.
  Matrix inverse(const Execution& how) const;
  /// The diagonal of that.
  std::vector<double> inverse_diagonal(const Execution& how) const;
  /// |L^-1 b_i|^2 for each row b_i.
  std::vector<double> squared_lengths(MatrixView rows, const Execution& how) const;

 private:
  /// L^-1 B, strip of columns by strip: fill(first column, strip) writes B, visit reads the result.
  template <class Fill, class Visit>
  void each_strip(std::size_t cols, const Execution& how, Fill fill, Visit visit) const;

  Matrix l_;
  bool ok_ = false;
};

}  // namespace tare
