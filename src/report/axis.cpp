// SPDX-License-Identifier: BSD-3-Clause
#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

constexpr double kLargest = 1e150;    // sums and differences of such values stay finite
constexpr double kSmallest = 1e-150;  // the shortest range that still has round numbers in it

// 1, 2 or 5 times a power of ten, at least `rough`.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    // A step that is too small by rounding alone would be passed over for the next.
    if (digit * power >= rough * (1.0 - 1e-9)) return digit * power;
  }
  return 10.0 * power;
}

std::string tick_label(double value, double step) {
  const double magnitude = std::max(std::fabs(value), step);
  if (magnitude >= 1e6 || step < 1e-4) return fmt::format("{:.6g}", value);
  const int decimals = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

bool drawable(double value) { return std::fabs(value) <= kLargest; }

void Axis::include(double value) {
  if (!drawable(value)) return;
  low_ = empty_ ? value : std::min(low_, value);
  high_ = empty_ ? value : std::max(high_, value);
  empty_ = false;
}

void Axis::finish(int wanted) {
  const double magnitude = std::max(std::fabs(low_), std::fabs(high_));
  if (high_ - low_ <= std::max(1e-9 * magnitude, kSmallest)) {
    // One value, or several that no label could tell apart: show it in the middle of a range.
    const double half = magnitude > kSmallest ? 0.5 * magnitude : 0.5;
    low_ -= half;
    high_ += half;
  }
  const double margin = 0.04 * (high_ - low_);
  low_ -= margin;
  high_ += margin;

  const double step = round_step((high_ - low_) / wanted);
  const double first = std::ceil(low_ / step);
  const double last = std::floor(high_ / step);
  for (double k = first; k <= last; k += 1.0) {
    const double value = k == 0.0 ? 0.0 : k * step;  // not -0
    ticks_.push_back({value, tick_label(value, step)});
  }
}

double Axis::place(double value, double from, double to) const {
  return from + (value - low_) / (high_ - low_) * (to - from);
}

}  // namespace tare
