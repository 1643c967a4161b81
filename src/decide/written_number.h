// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "decide/exact_sum.h"

namespace tare {

/// A positive number as the decimal that a person wrote: 0.3 is 3/10, although the nearest double
/// is a little less. A number with more than 15 digits or 12 decimal places, which nobody writes,
/// is its double.
class WrittenNumber {
 public:
  explicit WrittenNumber(double value);

  /// Decimal places; 0 for a double.
  int places() const noexcept { return places_; }
  /// The number times count and 10^places, exactly; `places` from places() to 12.
  ExactSum scaled(int places, std::size_t count) const;

  /// For an exponent up to 12: a whole number that is a double.
  static double power_of_ten(int exponent);

 private:
  double value_;
  std::uint64_t digits_ = 0;  // value = digits / 10^places; 0: the double itself
  int places_ = 0;
};

/// The smallest n with bound <= at_most (n + 1).
std::size_t least_rows(const WrittenNumber& at_most, const WrittenNumber& bound);

}  // namespace tare
