// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bands/level_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// The quantiles of a law that is y = tau^power at curve_levels(), some of them equal.
std::vector<double> power_curve(double power, double flat_from, double flat_to) {
  std::vector<double> curve;
  for (const Level& level : curve_levels()) {
    const double tau =
        level.value() > flat_from && level.value() < flat_to ? flat_from : level.value();
    curve.push_back(std::pow(tau, power));
  }
  return curve;
}

/// By looking at every piece: the least and the largest level whose quantile is the value.
std::pair<double, double> levels_of(const std::vector<double>& curve, double value) {
  double least = 2.0;
  double most = -1.0;
  for (std::size_t k = 0; k + 1 < curve.size(); ++k) {
    if (!(curve[k] <= value && value <= curve[k + 1])) continue;
    const double low = static_cast<double>(k + 1) / 100.0;
    const bool flat = curve[k] == curve[k + 1];
    const double share = flat ? 0.0 : (value - curve[k]) / (curve[k + 1] - curve[k]);
    least = std::min(least, low + 0.01 * share);
    most = std::max(most, flat ? low + 0.01 : low + 0.01 * share);
  }
  return {least, most};
}

TEST(LevelCurve, LevelsAndDeviationsAreThoseOfEveryPiece) {
  Rng rng(Seed{1});
  for (const auto& curve : {power_curve(1.0, 2.0, 2.0), power_curve(3.0, 0.3, 0.5)}) {
    for (int draw = 0; draw < 2'000; ++draw) {
      const bool at_point = draw % 2 == 0;
      const double value = at_point
                               ? curve[rng.below(curve.size())]
                               : curve.front() + rng.uniform() * (curve.back() - curve.front());
      const auto [least, most] = levels_of(curve, value);
      EXPECT_NEAR(curve_level(curve, value), 0.5 * (least + most), 1e-9);
      const double tau = rng.uniform();
      EXPECT_NEAR(level_deviation(curve, value, tau), tau - std::clamp(tau, least, most), 1e-9);
      EXPECT_NEAR(curve_quantile(curve, least), value, 1e-9);
      EXPECT_NEAR(curve_quantile(curve, most), value, 1e-9);
    }
  }
}

TEST(LevelCurve, BeyondTheEndsLevelsGoOnAndQuantilesStop) {
  const std::vector<double> curve = power_curve(1.0, 2.0, 2.0);
  EXPECT_DOUBLE_EQ(curve_quantile(curve, 0.0), 0.01);
  EXPECT_DOUBLE_EQ(curve_quantile(curve, 1.0), 0.99);
  double before = 0.01;
  for (const double value : {0.009, -0.5, -3.0, -1e300}) {
    const double level = curve_level(curve, value);
    EXPECT_LT(level, before);
    EXPECT_GT(level, 0.0);
    EXPECT_NEAR(curve_level(curve, 1.0 - value), 1.0 - level, 1e-12);
    before = level;
  }
  const std::vector<double> point(99, 3.0);
  EXPECT_DOUBLE_EQ(curve_level(point, 3.0), 0.5);
  EXPECT_LT(curve_level(point, 2.0), 0.01);
  EXPECT_GT(curve_level(point, 4.0), 0.99);
}

TEST(LevelCurve, TheLevelWithAShareIsItsInverse) {
  std::vector<double> shares;
  for (int k = 1; k < 100; ++k) shares.push_back(k / 100.0 * k / 100.0);
  for (const double tau : {0.01, 0.09, 0.25, 0.64, 0.98}) {
    EXPECT_NEAR(level_with_share(shares, tau), std::sqrt(tau), 1e-3);
  }
  EXPECT_DOUBLE_EQ(level_with_share(shares, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(level_with_share(shares, 1.0), 1.0);
}

}  // namespace
}  // namespace tare
