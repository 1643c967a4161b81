// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare {

/// Whether a chart can show the value: finite, and small enough that differences do not overflow.
bool drawable(double value);

enum class AxisScale : std::uint8_t {
  kLinear,
  kLog,  // equal ratios are equally far apart; only values above 0 have a place
};

/// One axis of a chart: grows with the values it is given, then maps them to pixels.
class Axis {
 public:
  explicit Axis(AxisScale scale = AxisScale::kLinear) : scale_(scale) {}

  /// Whether the value has a place: drawable, and above 0 on a log scale.
  bool takes(double value) const;

  /// Values that the axis does not take are ignored.
  void include(double value);

  /// Whether any value came in; without one the axis runs from 0 to 1.
  bool empty() const { return empty_; }

  /// Adds a margin on both sides and chooses round ticks, about `wanted` of them; on a log scale
  /// powers of ten, with 2 and 5 or all digits between them where there are few. Call once, after
  /// the last include().
  void finish(int wanted);

  struct Tick {
    double value = 0.0;
    std::string label;
  };
  const std::vector<Tick>& ticks() const { return ticks_; }

  /// The position of the value between the pixels `from` (low end) and `to` (high end).
  double place(double value, double from, double to) const;

 private:
  void choose_linear_ticks(int wanted);
  void choose_log_ticks(int wanted);

  AxisScale scale_;
  bool empty_ = true;
  double low_ = 0.0;  // these are decimal logarithms on a log scale
  double high_ = 1.0;
  std::vector<Tick> ticks_;
};

}  // namespace tare
