// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tare/base/export.h"
#include "tare/base/matrix.h"

namespace TARE_PUBLIC tare {

/// Quantiles for some rows, and diagnostics of each answer. The diagnostics are empty for a method
/// without a kernel. Only predict_with_reliability (reliability.h) fills effective_n, bands and
/// delivered levels.
struct Prediction {
  Matrix quantiles;              // (i, j): row i, level j, in the order the levels were given
  std::vector<double> window_n;  // of a kernel: (sum w)^2 / sum w^2 of the rows in its window
  std::vector<double> nearest;   // distance to the nearest calibration row, in scaled features; of
                                 // several models that answer together the largest one; empty
                                 // where Execution::diagnostics is off
  std::vector<std::uint8_t> fallback;  // 1: no calibration row within the bandwidth
  std::vector<std::uint8_t> outside;  // 1 where the row is farther from the nearest calibration row
                                      // than Snq::support_radius(); empty where nearest is
  /// The number of independent draws from the row's conditional distribution that would determine
  /// its quantiles as accurately as this answer; empty if the model was fitted without bands.
  std::vector<double> effective_n;
  Matrix band_low;   // (i, j): a 90 % band for the true quantile; empty where the model was fitted
  Matrix band_high;  // without bands
  Matrix delivered;  // (i, j): the level that the guarantee's ranks keep; empty without one
};

}  // namespace tare
