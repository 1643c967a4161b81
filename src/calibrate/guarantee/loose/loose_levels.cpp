// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/loose/loose_levels.h"

#include <algorithm>
#include <cmath>

#include "calibrate/guarantee/guarantee_ranks.h"

namespace tare {
namespace {

/// A level's decimal fraction decides about ranks, and 1 - 2 * 0.05 is not 0.9 in binary.
double as_decimal(double value) {
  constexpr double kPlaces = 1e15;
  return std::round(value * kPlaces) / kPlaces;
}

}  // namespace

std::optional<BackingLevel> backing_level(Level level, Mass all, Mass fresh) {
  const bool upper = level.value() >= 0.5;
  const double missed = upper ? 1.0 - level.value() : level.value();
  const double one = static_cast<double>(fresh);
  const double rows = static_cast<double>(all);
  const double error = kLooseErrors * std::sqrt(missed * (1.0 - missed) * one / rows);
  const double wanted = as_decimal(missed + std::min(missed, error));
  const auto on_side = [&](double misses) {
    return Level(upper ? as_decimal(1.0 - misses) : misses);
  };
  // Half a row nearer to the median than the outermost level, which is the same rank: rounding must
  // not lose it.
  const double outermost = (one + 0.5) / (rows + one);
  const double misses = std::max(wanted, outermost);
  if (misses >= 0.5) return std::nullopt;
  return BackingLevel{on_side(misses), can_keep(on_side(wanted), all, fresh)};
}

}  // namespace tare
