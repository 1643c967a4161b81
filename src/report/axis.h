// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tare {

/// Whether a chart can show the value: finite, and small enough that differences do not overflow.
bool drawable(double value);

/// One axis of a chart: grows with the values it is given, then maps them to pixels.
class Axis {
 public:
  /// Values that are not drawable are ignored.
  void include(double value);

  /// Whether any value came in; without one the axis runs from 0 to 1.
  bool empty() const { return empty_; }

  /// Adds a margin on both sides and chooses round ticks, about `wanted` of them. Call once, after
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
  bool empty_ = true;
  double low_ = 0.0;
  double high_ = 1.0;
  std::vector<Tick> ticks_;
};

}  // namespace tare
