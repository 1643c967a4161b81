// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/own_levels.h"

#include <algorithm>
#include <cmath>

#include "calibrate/guarantee/ranks/nearer_level.h"

namespace tare {
namespace {

/// kOwnSlack standard errors of the mass below a level. The mass up to a level plus or minus this
/// does not decrease with the level between the outermost kept ones: the derivative of the error is
/// at most half of the mass there.
double slack(const GuaranteeRanks& ranks, double level) {
  const auto all = static_cast<double>(ranks.mass() + ranks.largest());
  return kOwnSlack * std::sqrt(ranks.typical_mass() * all * level * (1.0 - level));
}

/// The place of the model's own level, or of the outermost level that is kept. Where targets are at
/// knots it is a knot, further out: between the quantiles of two knots there may be values that no
/// target takes.
CurvePlace own_place(const GuaranteeRanks& ranks, std::span<const Level> knots, Level level) {
  const bool kept = can_keep(level, ranks.mass(), ranks.largest());
  CurvePlace own = kept ? place_of_level(knots, level.value())
                        : own_tail(knots, level, ranks.mass(), ranks.largest()).from;
  if (ranks.has_masses()) own.at = level.value() >= 0.5 ? std::ceil(own.at) : std::floor(own.at);
  return own;
}

/// The place that an answer must reach: that of the level's rank, or of a nearer level's.
CurvePlace upper_limit(const GuaranteeRanks& ranks, SplitLevels levels, Level level) {
  if (levels != SplitLevels::kNear) return ranks.place(level);
  const Mass mass = ranks.mass();
  const Level nearer = nearer_level(level, kNearErrors, mass, ranks.largest());
  return ranks.upper().reaching(std::min(upper_target(nearer, mass, ranks.largest()), mass));
}

CurvePlace lower_limit(const GuaranteeRanks& ranks, SplitLevels levels, Level level) {
  if (levels != SplitLevels::kNear) return ranks.place(level);
  const Level nearer = nearer_level(level, kNearErrors, ranks.mass(), ranks.largest());
  const Mass target = lower_target(nearer, ranks.mass(), ranks.largest());
  return ranks.lower().reaching(std::max(target, Mass{1}));
}

CurvePlace upper_place(const GuaranteeRanks& ranks, std::span<const Level> knots,
                       SplitLevels levels, Level level) {
  const Mass mass = ranks.mass();
  const Mass fresh = ranks.largest();
  const CurvePlace own = own_place(ranks, knots, level);
  if (!can_keep(level, mass, fresh)) return std::max(own, ranks.place(level));
  const CurvePlace limit = upper_limit(ranks, levels, level);
  const double most =
      std::ceil(static_cast<double>(mass + fresh) * level.value() + slack(ranks, level.value()));
  if (most > static_cast<double>(mass)) return std::max(own, limit);
  const CurvePlace outermost = ranks.upper().reaching(static_cast<Mass>(most));
  return std::clamp(own, limit, std::max(limit, outermost));
}

CurvePlace lower_place(const GuaranteeRanks& ranks, std::span<const Level> knots,
                       SplitLevels levels, Level level) {
  const Mass mass = ranks.mass();
  const Mass fresh = ranks.largest();
  const CurvePlace own = own_place(ranks, knots, level);
  if (!can_keep(level, mass, fresh)) return std::min(own, ranks.place(level));
  const CurvePlace limit = lower_limit(ranks, levels, level);
  const double least = std::floor(static_cast<double>(mass + fresh) * level.value() -
                                  static_cast<double>(fresh) + 1.0 - slack(ranks, level.value()));
  if (least < 1.0) return std::min(own, limit);
  const CurvePlace outermost = ranks.lower().reaching(static_cast<Mass>(least));
  return std::clamp(own, std::min(limit, outermost), limit);
}

}  // namespace

CurvePlace own_or_ranked_place(const GuaranteeRanks& ranks, std::span<const Level> knots,
                               SplitLevels levels, Level level) {
  static const Level kMedian(0.5);
  if (level.value() >= 0.5) return upper_place(ranks, knots, levels, level);
  const CurvePlace place = lower_place(ranks, knots, levels, level);
  if (levels != SplitLevels::kNear) return place;
  // Limits of the two sides are ranks of different scores: a lower bound stays below the median.
  return std::min(place, upper_place(ranks, knots, levels, kMedian));
}

double own_delivered(const GuaranteeRanks& ranks, SplitLevels levels, Level level) {
  const bool kept = can_keep(level, ranks.mass(), ranks.largest());
  if (levels != SplitLevels::kNear || !kept) return ranks.delivered(level);
  const Level nearer = nearer_level(level, kNearErrors, ranks.mass(), ranks.largest());
  const std::uint64_t count = ranks.rows() + 1;
  const std::uint64_t rank = level.value() >= 0.5
                                 ? std::min<std::uint64_t>(nearer.rank(count), ranks.rows())
                                 : std::max<std::uint64_t>(nearer.rank_below(count), 1);
  return static_cast<double>(rank) / static_cast<double>(count);
}

}  // namespace tare
