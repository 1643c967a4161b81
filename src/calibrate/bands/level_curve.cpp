// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/level_curve.h"

#include <algorithm>
#include <cstddef>

namespace tare {
namespace {

/// The level of the curve's point `k`.
double level_at(std::size_t k) { return static_cast<double>(k + 1) / 100.0; }

/// The points of an ascending curve at a value: those from `first` up to `past` equal it.
struct LevelPlace {
  std::size_t first, past;

  LevelPlace(std::span<const double> curve, double value)
      : first(static_cast<std::size_t>(std::ranges::lower_bound(curve, value) - curve.begin())),
        past(static_cast<std::size_t>(std::ranges::upper_bound(curve, value) - curve.begin())) {}
};

/// The level of a value between the points first - 1 and first.
double level_between(std::span<const double> curve, std::size_t first, double value) {
  const double low = curve[first - 1];
  const double high = curve[first];
  // Halves before the difference, which could overflow.
  const double share = (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low);
  return level_at(first - 1) + share * (level_at(first) - level_at(first - 1));
}

}  // namespace

const std::vector<Level>& curve_levels() {
  static const std::vector<Level> kLevels = [] {
    std::vector<Level> levels;
    for (std::size_t k = 0; k < 99; ++k) levels.emplace_back(level_at(k));
    return levels;
  }();
  return kLevels;
}

double curve_quantile(std::span<const double> curve, double tau) {
  const auto last = static_cast<double>(curve.size() - 1);
  const double position = std::clamp(100.0 * tau - 1.0, 0.0, last);
  const std::size_t low = std::min(static_cast<std::size_t>(position), curve.size() - 2);
  const double share = position - static_cast<double>(low);
  return (1.0 - share) * curve[low] + share * curve[low + 1];
}

double curve_level(std::span<const double> curve, double value) {
  const auto [first, past] = LevelPlace(curve, value);
  if (first < past) return 0.5 * (level_at(first) + level_at(past - 1));
  if (first > 0 && past < curve.size()) return level_between(curve, first, value);
  // Beyond the curve, in units of its width.
  const double width = 0.5 * curve.back() - 0.5 * curve.front();
  const double far =
      past == 0 ? 0.5 * curve.front() - 0.5 * value : 0.5 * value - 0.5 * curve.back();
  const double level = level_at(0) / (1.0 + (width > 0.0 ? far / width : 1.0));
  return past == 0 ? level : 1.0 - level;
}

double level_deviation(std::span<const double> curve, double value, double tau) {
  const auto [first, past] = LevelPlace(curve, value);
  if (first < past) return tau - std::clamp(tau, level_at(first), level_at(past - 1));
  if (first == 0) return tau - 0.5 * level_at(0);
  if (first == curve.size()) return tau - 0.5 * (1.0 + level_at(curve.size() - 1));
  return tau - level_between(curve, first, value);
}

double level_with_share(std::span<const double> shares, double tau) {
  const auto past =
      static_cast<std::size_t>(std::ranges::lower_bound(shares, tau) - shares.begin());
  const double low = past == 0 ? 0.0 : shares[past - 1];
  const double high = past == shares.size() ? 1.0 : shares[past];
  const double step = high > low ? (tau - low) / (high - low) : 1.0;
  return (static_cast<double>(past) + step) / static_cast<double>(shares.size() + 1);
}

}  // namespace tare
