// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

namespace tare {

/// A running sum that also carries what rounding dropped (Neumaier's variant of Kahan's sum): the
/// error does not grow with the number of terms. An infinite term makes the sum infinite; opposite
/// infinities, NaN.
class CompensatedSum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    if (std::isfinite(next)) {  // with an infinity the differences below would be NaN
      dropped_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
    }
    sum_ = next;
  }

  double value() const { return std::isfinite(sum_) ? sum_ + dropped_ : sum_; }

 private:
  double sum_ = 0.0;
  double dropped_ = 0.0;
};

}  // namespace tare
