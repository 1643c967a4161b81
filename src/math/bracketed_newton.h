// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

namespace tare {

/// The root of an increasing function between `low` and `high`, by Newton steps that fall back to
/// halving the bracket whenever a step would leave it. To the last digit or two that the function
/// itself resolves.
///
/// `value(x)` and `slope(x)` are the function and its derivative; value(low) <= 0 <= value(high),
/// both ends finite. `start` is clamped into the bracket.
template <class Value, class Slope>
double bracketed_newton(const Value& value, const Slope& slope, double low, double high,
                        double start) {
  constexpr int kMaxSteps = 200;  // halving alone needs about 64 within one power of two
  double x = std::fmin(std::fmax(start, low), high);
  for (int step = 0; step < kMaxSteps; ++step) {
    const double f = value(x);
    if (f == 0.0) return x;
    (f < 0.0 ? low : high) = x;
    double next = x - f / slope(x);
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::fabs(next - x) <= std::numeric_limits<double>::epsilon() * std::fabs(x)) return next;
    x = next;
  }
  return x;
}

}  // namespace tare
