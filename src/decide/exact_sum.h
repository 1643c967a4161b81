// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace tare {

/// A sum of doubles without any rounding: it is kept as a few doubles that do not overlap
/// (Shewchuk 1997, grow-expansion). Exact as long as nothing overflows, and products do not
/// underflow: their factors and the product lie within 1e-140 and 1e140, or are 0.
class ExactSum {
 public:
  void add(double term);
  /// Adds a * b.
  void add_product(double a, double b);
  void add(const ExactSum& other);

  /// The sum times a factor.
  ExactSum times(double factor) const;
  /// -1, 0 or 1.
  int sign() const noexcept;
  /// The nearest double, or one of the two around the sum.
  double value() const noexcept;

 private:
  std::vector<double> parts_;  // ascending in size; their sum is the sum
};

}  // namespace tare
