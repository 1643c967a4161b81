// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/ranks/guarantee_curve.h"

#include <limits>

namespace tare {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Moves a number up (towards +infinity) or down until `holds`, or to `limit` where that comes
/// first: by the least that can be told apart, then by twice as much, and so on.
template <class Holds>
double nudged(double start, double limit, const Holds& holds) {
  const double sign = limit > start ? 1.0 : -1.0;
  double result = start;
  double step = std::nextafter(std::abs(start), kNoLimit) - std::abs(start);
  while (!holds(result)) {
    result += sign * step;
    step *= 2.0;
    if (sign * (limit - result) <= 0.0) return limit;
  }
  return result;
}

/// y lies strictly between the quantiles of a knot and of the next one.
RowScore score_between(std::span<const double> quantiles, std::size_t knot, double y) {
  const double low = quantiles[knot];
  const double high = quantiles[knot + 1];
  const auto first = static_cast<double>(knot);
  const double step = high - low;
  if (!std::isfinite(step)) return {.upper = {first + 1.0}, .lower = {first}};
  const double at = std::clamp(first + (y - low) / step, first, first + 1.0);
  const auto value = [&](double place) { return value_at(quantiles, {place}); };
  return {.upper = {nudged(at, first + 1.0, [&](double place) { return value(place) >= y; })},
          .lower = {nudged(at, first, [&](double place) { return value(place) <= y; })}};
}

/// y lies outside all quantiles, of which `end` is the nearest, at the knot `at`.
RowScore score_outside(double at, double end, double y) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const double beyond = std::clamp(y - end, -kMost, kMost);
  const auto upper = [&](double by) { return moved(end, by) >= y; };
  const auto lower = [&](double by) { return moved(end, by) <= y; };
  return {.upper = {at, nudged(beyond, y > end ? kNoLimit : 0.0, upper)},
          .lower = {at, nudged(beyond, y > end ? 0.0 : -kNoLimit, lower)}};
}

}  // namespace

CurvePlace place_of_level(std::span<const Level> knots, double level) {
  const auto past = std::ranges::upper_bound(knots, level, {}, &Level::value);
  if (past == knots.begin()) return {0.0};
  const auto knot = static_cast<std::size_t>(past - knots.begin()) - 1;
  if (past == knots.end()) return {static_cast<double>(knot)};
  const double low = knots[knot].value();
  const double share = (level - low) / (past->value() - low);
  return {static_cast<double>(knot) + share};
}

RowScore score_row(std::span<const double> quantiles, double y) {
  const auto first = std::lower_bound(quantiles.begin(), quantiles.end(), y);
  const auto past = std::upper_bound(first, quantiles.end(), y);
  const auto last_knot = static_cast<double>(quantiles.size() - 1);
  if (first == quantiles.end()) return score_outside(last_knot, quantiles.back(), y);
  if (past == quantiles.begin()) return score_outside(0.0, quantiles.front(), y);
  if (first == past) {
    return score_between(quantiles, static_cast<std::size_t>(first - quantiles.begin()) - 1, y);
  }
  return {.upper = {static_cast<double>(first - quantiles.begin())},
          .lower = {static_cast<double>(past - quantiles.begin() - 1)}};
}

void draw_within_mass(std::span<const Level> knots, Rng& rng, RowScore& score) {
  if (!(score.upper.at < score.lower.at)) return;
  const double first = knots[score.upper.knot()].value();
  const double last = knots[score.lower.knot()].value();
  const double drawn = place_of_level(knots, rng.uniform(first, last)).at;
  const double at = std::clamp(drawn, score.upper.at, score.lower.at);
  score.upper.at = std::ceil(at);
  score.lower.at = std::floor(at);
}

}  // namespace tare
