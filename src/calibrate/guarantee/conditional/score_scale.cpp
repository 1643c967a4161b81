// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/conditional/score_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/normal.h"

namespace tare {

ScoreScale::ScoreScale(std::span<const Level> knots, double unit) : unit_(unit) {
  for (const Level& knot : knots) {
    at_knot_.push_back(std::round(normal_quantile(knot.value()) / kStep) * kStep);
  }
}

double ScoreScale::exact(const CurvePlace& place) const {
  const std::size_t knot = place.knot();
  if (place.beyond != 0.0) {
    return std::clamp(at_knot_[knot] + place.beyond / unit_, -kMost, kMost);
  }
  const double share = place.share();
  if (share == 0.0) return at_knot_[knot];
  return at_knot_[knot] + share * (at_knot_[knot + 1] - at_knot_[knot]);
}

double ScoreScale::upper(const CurvePlace& place) const {
  return std::ceil(exact(place) / kStep) * kStep;
}

double ScoreScale::lower(const CurvePlace& place) const {
  return std::floor(exact(place) / kStep) * kStep;
}

CurvePlace ScoreScale::place(double score) const {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  const auto last = static_cast<double>(at_knot_.size() - 1);
  if (score >= kMost) return {last, kFar};
  if (score <= -kMost) return {0.0, -kFar};
  if (score > at_knot_.back()) return {last, (score - at_knot_.back()) * unit_};
  if (score < at_knot_.front()) return {0.0, (score - at_knot_.front()) * unit_};
  const auto past = std::ranges::upper_bound(at_knot_, score);
  const auto knot = static_cast<std::size_t>(past - at_knot_.begin()) - 1;
  const double low = at_knot_[knot];
  const double at = static_cast<double>(knot);
  if (score == low) return {at};
  return {std::min(at + (score - low) / (*past - low), std::nextafter(at + 1.0, 0.0))};
}

}  // namespace tare
