// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// The form of the predictions of an outside model.
enum class GivenKind : std::uint8_t {
  kPoint,       // one number
  kMeanSd,      // a mean, and a standard deviation above 0
  kQuantiles,   // quantiles at two or more levels
  kFoldPoints,  // a number for each fold of a cross guarantee: its model's, trained without the
                // fold
};

/// The meaning of the columns of FitInput::given and Rows::given.
struct GivenForm {
  GivenKind kind = GivenKind::kPoint;
  std::vector<double> levels = {};  // of kQuantiles, a column each: ascending, inside (0, 1)
  std::size_t folds = 0;            // of kFoldPoints, a column each

  std::size_t columns() const {
    switch (kind) {
      case GivenKind::kPoint:
        return 1;
      case GivenKind::kMeanSd:
        return 2;
      case GivenKind::kQuantiles:
        return levels.size();
      case GivenKind::kFoldPoints:
        break;
    }
    return folds;
  }
};

}  // namespace tare
