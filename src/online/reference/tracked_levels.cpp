// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/tracked_levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/bounded.h"

namespace tare {
namespace {

constexpr std::size_t kNoTrack = std::numeric_limits<std::size_t>::max();
constexpr double kMedianLevel = 0.5;

/// 1 - tau without the rounding error of the subtraction, for levels of up to 15 decimal places.
double upper_tail(double tau) {
  constexpr double kPlaces = 1e15;
  const double rounded = std::round((1.0 - tau) * kPlaces) / kPlaces;
  return rounded > 0.0 ? rounded : 1.0 - tau;
}

double tail(const Level& level) {
  return level.value() <= kMedianLevel ? level.value() : upper_tail(level.value());
}

}  // namespace

double outside_share(const Level& level) { return 2.0 * tail(level); }

std::vector<std::size_t> levels_from_outside(std::span<const Level> levels) {
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Levels ascend, so a stable sort leaves a lower bound before its upper one.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return tail(levels[a]) < tail(levels[b]); });
  return order;
}

void order_from_outside(std::span<const Level> levels, std::span<const std::size_t> from_outside,
                        std::span<double> quantiles) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  for (const std::size_t i : from_outside) {
    quantiles[i] = std::clamp(quantiles[i], low, high);
    (levels[i].value() < kMedianLevel ? low : high) = quantiles[i];
  }
}

TrackedLevels::TrackedLevels(std::span<const Level> levels, ScoreKind kind)
    : kind_(kind),
      levels_(levels.begin(), levels.end()),
      track_of_(levels.size(), kNoTrack),
      from_outside_(levels_from_outside(levels)) {
  double last_share = 0.0;
  for (const std::size_t i : from_outside_) {
    const Level& level = levels_[i];
    if (kind_ == ScoreKind::kSigned) {
      tracks_.push_back({tail(level), level.value() < kMedianLevel});
    } else {
      const double share = outside_share(level);
      if (level.value() == kMedianLevel) continue;
      if (tracks_.empty() || share != last_share) tracks_.push_back({share, false});
      last_share = share;
    }
    track_of_[i] = tracks_.size() - 1;
  }
}

double TrackedLevels::score(const Track& track, double error) const {
  const double value = kind_ == ScoreKind::kAbsolute ? std::fabs(error)
                       : track.is_mirrored           ? -error
                                                     : error;
  return bounded(value) + 0.0;  // no negative zero: its place among zeros would be by chance
}

void TrackedLevels::quantiles(double prediction, std::span<const double> thresholds,
                              std::vector<double>& out) const {
  out.resize(levels_.size());
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    double threshold = track_of_[i] == kNoTrack ? 0.0 : thresholds[track_of_[i]];
    const bool is_empty =
        kind_ == ScoreKind::kAbsolute ? threshold < 0.0 : std::isinf(threshold) && threshold < 0.0;
    if (is_empty) threshold = 0.0;
    out[i] = levels_[i].value() < kMedianLevel ? prediction - threshold : prediction + threshold;
  }
  order_from_outside(levels_, from_outside_, out);
}

}  // namespace tare
