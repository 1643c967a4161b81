// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tare {

/// What a model that tare did not make says about a row.
enum class GivenKind : std::uint8_t {
  kPoint,      // one number
  kMeanSd,     // a mean, and a standard deviation above 0
  kQuantiles,  // quantiles at two or more levels
};

/// The meaning of the columns of FitInput::given and Rows::given.
struct GivenForm {
  GivenKind kind = GivenKind::kPoint;
  std::vector<double> levels = {};  // of kQuantiles, a column each: ascending, inside (0, 1)

  std::size_t columns() const {
    return kind == GivenKind::kPoint ? 1 : kind == GivenKind::kMeanSd ? 2 : levels.size();
  }
};

}  // namespace tare
