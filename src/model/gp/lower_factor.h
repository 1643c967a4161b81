// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// The Cholesky factor L of a positive definite matrix, and solutions by it. Results do not
/// depend on the threads.
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

 private:
  Matrix l_;
  bool ok_ = false;
};

}  // namespace tare
