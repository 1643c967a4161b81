// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace tare {

/// exp(x) for x <= 0, accurate to 2 units in the last place, 0 below -700.
///
/// Written out because it has no branch and no table: the compiler turns a loop over it into vector
/// code, and the result is the same for every vector width. The library's exp is neither.
inline double exp_negative(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefa38p-1;  // 12 zero bits at the end: k * kLn2High is exact
  constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  constexpr double kRound = 0x1.8p+52;  // adding and subtracting it rounds to a whole number
  const double clamped = x < -700.0 ? -700.0 : x;
  const double shifted = clamped * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (clamped - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  // Taylor to r^13: the next term is below 2^-57 on that range.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r * r + r;
  // 2^k: the low bits of `shifted` hold k, which is moved into the exponent field.
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  const double value = (1.0 + p) * std::bit_cast<double>(bits);
  return x < -700.0 ? 0.0 : value;
}

}  // namespace tare
