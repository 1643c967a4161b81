// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/own_levels.h"

#include <algorithm>
#include <cmath>

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

CurvePlace upper_place(const GuaranteeRanks& ranks, std::span<const Level> knots, Level level) {
  const Mass mass = ranks.mass();
  const Mass fresh = ranks.largest();
  const CurvePlace ranked = ranks.place(level);
  const bool kept = can_keep(level, mass, fresh);
  const CurvePlace own = own_place(ranks, knots, level);
  const double most =
      std::ceil(static_cast<double>(mass + fresh) * level.value() + slack(ranks, level.value()));
  if (!kept || most > static_cast<double>(mass)) return std::max(own, ranked);
  const CurvePlace outermost = ranks.upper().reaching(static_cast<Mass>(most));
  return std::clamp(own, ranked, std::max(ranked, outermost));
}

CurvePlace lower_place(const GuaranteeRanks& ranks, std::span<const Level> knots, Level level) {
  const Mass mass = ranks.mass();
  const Mass fresh = ranks.largest();
  const CurvePlace ranked = ranks.place(level);
  const bool kept = can_keep(level, mass, fresh);
  const CurvePlace own = own_place(ranks, knots, level);
  const double least = std::floor(static_cast<double>(mass + fresh) * level.value() -
                                  static_cast<double>(fresh) + 1.0 - slack(ranks, level.value()));
  if (!kept || least < 1.0) return std::min(own, ranked);
  const CurvePlace outermost = ranks.lower().reaching(static_cast<Mass>(least));
  return std::clamp(own, std::min(ranked, outermost), ranked);
}

}  // namespace

CurvePlace own_or_ranked_place(const GuaranteeRanks& ranks, std::span<const Level> knots,
                               Level level) {
  return level.value() >= 0.5 ? upper_place(ranks, knots, level) : lower_place(ranks, knots, level);
}

}  // namespace tare
