// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/loose/loose_levels.h"

#include <algorithm>

#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "calibrate/guarantee/ranks/nearer_level.h"

namespace tare {
std::optional<BackingLevel> backing_level(Level level, Mass all, Mass fresh) {
  const bool upper = level.value() >= 0.5;
  const double missed = upper ? 1.0 - level.value() : level.value();
  const double one = static_cast<double>(fresh);
  const double rows = static_cast<double>(all);
  const double wanted = more_misses(missed, kLooseErrors, all, fresh);
  // Half a row nearer to the median than the outermost level, which is the same rank: rounding must
  // not lose it.
  const double outermost = (one + 0.5) / (rows + one);
  const double misses = std::max(wanted, outermost);
  if (wanted > kMostBackedMisses || misses >= 0.5) return std::nullopt;
  return BackingLevel{level_missing(misses, level),
                      can_keep(level_missing(wanted, level), all, fresh)};
}

}  // namespace tare
