// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tare/calibrate/reliability.h"

namespace tare {

/// Quantiles from the far tails on are finite and in order, and so is all that is said about them.
inline void expect_finite(const QuantileModel& model, MatrixView x) {
  static const std::vector<Level> kLevels = {Level(1e-9),  Level(0.0001), Level(0.001),
                                             Level(0.01),  Level(0.5),    Level(0.99),
                                             Level(0.999), Level(0.9999), Level(0.9999999)};
  const Prediction p = predict_with_reliability(model, {x}, kLevels);
  for (std::size_t i = 0; i < p.quantiles.rows(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(p.quantiles.row(i)));
  }
  const auto finite = [](double value) { return std::isfinite(value); };
  for (const Matrix* numbers : {&p.quantiles, &p.band_low, &p.band_high, &p.delivered}) {
    EXPECT_TRUE(std::ranges::all_of(numbers->values(), finite));
  }
  EXPECT_TRUE(std::ranges::all_of(p.effective_n, finite));
}

}  // namespace tare
