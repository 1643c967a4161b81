// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

constexpr double kLargest = 1e150;         // sums and differences of such values stay finite
constexpr double kShortestRange = 1e-150;  // the shortest range that still has round numbers in it

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

bool Axis::takes(double value) const {
  return drawable(value) && (scale_ == AxisScale::kLinear || value >= kShortestRange);
}

void Axis::include(double value) {
  if (!takes(value)) return;
  if (scale_ == AxisScale::kLog) value = std::log10(value);
  low_ = empty_ ? value : std::min(low_, value);
  high_ = empty_ ? value : std::max(high_, value);
  empty_ = false;
}

void Axis::finish(int wanted) {
  const double magnitude = std::max(std::fabs(low_), std::fabs(high_));
  if (high_ - low_ <= std::max(1e-9 * magnitude, kShortestRange)) {
    // One value, or several that no label could tell apart: show it in the middle of a range.
    const bool linear = scale_ == AxisScale::kLinear;
    const double half = linear && magnitude > kShortestRange ? 0.5 * magnitude : 0.5;
    low_ -= half;
    high_ += half;
  }
  const double margin = 0.04 * (high_ - low_);
  low_ -= margin;
  high_ += margin;
  if (scale_ == AxisScale::kLinear) {
    choose_linear_ticks(wanted);
  } else {
    choose_log_ticks(wanted);
  }
}

void Axis::choose_linear_ticks(int wanted) {
  const double step = round_step((high_ - low_) / wanted);
  const double first = std::ceil(low_ / step);
  const double last = std::floor(high_ / step);
  for (double k = first; k <= last; k += 1.0) {
    const double value = k == 0.0 ? 0.0 : k * step;  // not -0
    ticks_.push_back({value, tick_label(value, step)});
  }
}

void Axis::choose_log_ticks(int wanted) {
  static const std::vector<double> kDigits[] = {
      {1.0}, {1.0, 2.0, 5.0}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0}};
  const double stride = std::max(1.0, std::ceil((high_ - low_) / wanted));  // of decades
  for (const std::vector<double>& digits : kDigits) {
    ticks_.clear();
    for (double power = stride * std::floor(low_ / stride); power <= high_; power += stride) {
      for (const double digit : digits) {
        const double place = power + std::log10(digit);
        if (place < low_ || place > high_) continue;
        const double value = digit * std::pow(10.0, power);
        ticks_.push_back({value, fmt::format("{:.6g}", value)});
      }
    }
    if (ticks_.size() >= 4) return;
  }
}

double Axis::place(double value, double from, double to) const {
  if (scale_ == AxisScale::kLog) value = std::log10(value);
  return from + (value - low_) / (high_ - low_) * (to - from);
}

}  // namespace tare
