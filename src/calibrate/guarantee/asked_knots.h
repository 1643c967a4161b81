// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/guarantee/ranks/guarantee_curve.h"
#include "tare/base/level.h"

namespace tare {

/// The knots at which a model is asked, of all: the flagged ones. Knots that are neighbours have
/// neighbouring columns if both are asked, so a place between them keeps its value.
struct AskedKnots {
  std::vector<Level> levels;
  std::vector<std::size_t> column;  // of each knot; 0 where it is not asked

  AskedKnots(std::span<const Level> knots, std::span<const std::uint8_t> flag)
      : column(knots.size(), 0) {
    for (std::size_t k = 0; k < knots.size(); ++k) {
      if (flag[k] == 0) continue;
      column[k] = levels.size();
      levels.push_back(knots[k]);
    }
  }
  /// From a place among the knots to the same place among the columns.
  void to_columns(CurvePlace& place) const {
    place.at = static_cast<double>(column[place.knot()]) + place.share();
  }
};

}  // namespace tare
