// SPDX-License-Identifier: BSD-3-Clause
#include "online/reference/learned_error.h"

#include <cmath>

#include "base/fail.h"
#include "math/bounded.h"

namespace tare {

double learned_error(const OnlineRow& row, double target) {
  if (!std::isfinite(target) || !std::isfinite(row.prediction)) {
    fail(ErrorCode::kBadData,
         "row {} cannot be learned: its target is {} and its prediction is {}, and both must be "
         "finite",
         row.time, target, row.prediction);
  }
  return bounded(target - row.prediction) + 0.0;
}

}  // namespace tare
