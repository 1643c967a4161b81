// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tare::nn {

/// exp to 2 units in the last place of a float, without a branch, so that a loop over it becomes
/// vector code.
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float kLog2E = 0x1.715476p+0F;
  constexpr float kLn2High = 0x1.62e4p-1F;  // 9 zero bits at the end: k * kLn2High is exact
  constexpr float kLn2Low = 0x1.7f7d1cp-20F;
  constexpr float kRound = 0x1.8p+23F;  // adding and subtracting it rounds to a whole number
  const float low = x < -87.0F ? -87.0F : x;
  const float clamped = low > 88.0F ? 88.0F : low;
  const float shifted = clamped * kLog2E + kRound;
  const float k = shifted - kRound;
  const float r = (clamped - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  // Taylor to r^7: the next term is below 2^-27 on that range.
  float p = 1.0F / 5040.0F;
  p = p * r + 1.0F / 720.0F;
  p = p * r + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r * r + r;
  const std::uint32_t bits = (std::bit_cast<std::uint32_t>(shifted) + 127U) << 23;
  const float value = (1.0F + p) * std::bit_cast<float>(bits);
  const float bounded = x < -87.0F ? 0.0F : value;
  return x > 88.0F ? HUGE_VALF : bounded;
}
inline double exponential(double x) { return std::exp(x); }

template <class T>
[[gnu::always_inline]] inline T logistic(T x) {
  return T(1) / (T(1) + exponential(-x));
}

/// Off by at most 2e-7 for float: what matters in a gate is the absolute error.
[[gnu::always_inline]] inline float tanh_of(float x) {
  return 1.0F - 2.0F / (1.0F + exponential(2.0F * x));
}
inline double tanh_of(double x) { return std::tanh(x); }

}  // namespace tare::nn
