// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "math/bounded.h"
#include "online/reference/score_window.h"

namespace tare {

/// The step size of the conformal PID paper: a share of the range of recent scores, the newest
/// included. Where all are equal, a share of their size: a range of zero would keep a threshold
/// below a constant score for ever.
inline double adaptive_step(double share, const ScoreWindow& window, double score) {
  const double range = window.range_with(score);
  return bounded(share * (range > 0.0 ? range : std::fabs(score)));
}

}  // namespace tare
