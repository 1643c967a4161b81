// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/ranks/nearer_level.h"

#include <algorithm>
#include <cmath>

namespace tare {
namespace {

double as_decimal(double value) {
  constexpr double kPlaces = 1e15;
  return std::round(value * kPlaces) / kPlaces;
}

}  // namespace

double more_misses(double missed, double errors, Mass all, Mass fresh) {
  const double share = static_cast<double>(fresh) / static_cast<double>(all);
  const double error = errors * std::sqrt(missed * (1.0 - missed) * share);
  return as_decimal(missed + std::min(missed, error));
}

Level level_missing(double misses, Level side) {
  return Level(side.value() >= 0.5 ? as_decimal(1.0 - misses) : misses);
}

Level nearer_level(Level level, double errors, Mass all, Mass fresh) {
  const double missed = level.value() >= 0.5 ? 1.0 - level.value() : level.value();
  return level_missing(more_misses(missed, errors, all, fresh), level);
}

}  // namespace tare
