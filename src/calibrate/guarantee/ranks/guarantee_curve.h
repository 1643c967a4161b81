// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <span>

#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "tare/base/level.h"
#include "tare/base/rng.h"

namespace tare {

/// A place on the curve that joins a row's quantiles at the knots by straight lines. It is the same
/// place for every row; the value there is the row's own.
struct CurvePlace {
  double at = 0.0;      // number of the knot, plus the share of the way to the next one
  double beyond = 0.0;  // distance past the first (< 0) or the last knot (> 0), in units of the
                        // target; else 0
  friend auto operator<=>(const CurvePlace&, const CurvePlace&) = default;

  std::size_t knot() const noexcept { return static_cast<std::size_t>(at); }
  double share() const noexcept { return at - std::floor(at); }
};

/// A quantile moved by `beyond`; infinity of one sign is never added to the other.
inline double moved(double quantile, double beyond) {
  return std::isinf(beyond) ? beyond : quantile + beyond;
}

/// The value that lies the given share (in [0, 1)) of the way from a quantile to the next one. Does
/// not decrease with the share, rounding included, and stays between the two. Where their distance
/// is not a number it is the one that is finite.
inline double between(double low, double high, double share) {
  if (share == 0.0) return low;
  const double step = high - low;
  if (!std::isfinite(step)) return std::isfinite(low) ? low : high;
  return std::min(low + share * step, high);
}

/// The value at a place for a row with these quantiles at the knots, ascending.
inline double value_at(std::span<const double> quantiles, const CurvePlace& place) {
  const std::size_t knot = place.knot();
  const double share = place.share();
  const double high = share > 0.0 ? quantiles[knot + 1] : quantiles[knot];
  const double value = between(quantiles[knot], high, share);
  return place.beyond == 0.0 ? value : moved(value, place.beyond);
}

/// The place of a level, on the straight line between its neighbours among the knots; the first or
/// last knot for a level outside all of them.
CurvePlace place_of_level(std::span<const Level> knots, double level);

/// Where a target lies on its row's curve.
///
/// `upper` and `lower` are the same place but for rounding: value_at(upper) >= y >= value_at(lower)
/// always holds. Since values do not decrease with the place, a bound at a place from `upper` on is
/// at least y, and one at a place up to `lower` is at most y.
struct RowScore {
  CurvePlace upper, lower;
  Mass mass = 1;  // how much the row counts
};

/// `quantiles` ascend and are not NaN; y is finite. Where several knots have y as their quantile,
/// `upper` is the first of them and `lower` the last.
RowScore score_row(std::span<const double> quantiles, double y);

/// Where y is the row's quantile at several knots it lies at each of their levels at once. Draws
/// one of these levels, evenly; `upper` is the knot from there on and `lower` the one up to there.
/// The value at both is y, so that bounds stay valid. Without it every row at a mass counts as
/// within all levels of its jump, and the ranks make up for that at other rows' expense. Whole
/// knots, since the answers to targets that are all masses are then values of these.
void draw_within_mass(std::span<const Level> knots, Rng& rng, RowScore& score);

}  // namespace tare
