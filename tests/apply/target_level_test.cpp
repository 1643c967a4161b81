// SPDX-License-Identifier: BSD-3-Clause
#include "apply/target_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "infinity.h"

namespace tare {
namespace {

/// P(Z <= z) of a standard normal variable, from the error function.
double below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

std::vector<Level> levels_of(const std::vector<double>& taus) {
  std::vector<Level> levels;
  for (const double tau : taus) levels.emplace_back(tau);
  return levels;
}

TEST(TargetLevel, IsTheProbabilityForQuantilesOfANormalDistribution) {
  // -1.6448..., 0 and 1.6448... standard deviations: straight lines in z are then the distribution.
  const double z = 1.6448536269514722;
  const auto levels = levels_of({0.05, 0.5, 0.95});
  const std::vector<double> quantiles = {10.0 - 2.0 * z, 10.0, 10.0 + 2.0 * z};
  for (const double target : {-3.0, 5.0, 6.71, 8.5, 10.0, 11.0, 13.29, 20.0}) {
    EXPECT_NEAR(target_level(levels, quantiles, target), below((target - 10.0) / 2.0), 1e-12);
  }
}

TEST(TargetLevel, RisesWithTheTargetAndIsTheLevelAtAQuantile) {
  std::mt19937 draw(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto levels = levels_of({0.025, 0.1, 0.4, 0.75, 0.99});
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> quantiles(levels.size());
    for (double& q : quantiles) q = uniform(draw);
    std::ranges::sort(quantiles);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      EXPECT_NEAR(target_level(levels, quantiles, quantiles[j]), levels[j].value(), 1e-12);
    }
    double last = 0.0;
    for (double target = -3.0; target <= 3.0; target += 0.01) {
      const double level = target_level(levels, quantiles, target);
      EXPECT_GE(level, last);
      EXPECT_LE(level, 1.0);
      last = level;
    }
  }
}

TEST(TargetLevel, TiesInfinitiesAndTooFewLevels) {
  const auto three = levels_of({0.1, 0.5, 0.9});
  EXPECT_NEAR(target_level(three, std::vector<double>{2, 2, 2}, 2.0), 0.5, 1e-12);
  EXPECT_EQ(target_level(three, std::vector<double>{2, 2, 2}, 1.0), 0.0);
  EXPECT_EQ(target_level(three, std::vector<double>{2, 2, 2}, 3.0), 1.0);
  EXPECT_DOUBLE_EQ(target_level(three, std::vector<double>{-kInf, 0, kInf}, 7.0), 0.7);
  EXPECT_DOUBLE_EQ(target_level(three, std::vector<double>{-kInf, 0, kInf}, -7.0), 0.3);
  EXPECT_DOUBLE_EQ(target_level(three, std::vector<double>{0, 1, kInf}, 7.0), 0.7);
  EXPECT_DOUBLE_EQ(target_level(three, std::vector<double>{1, kInf, kInf}, 0.0),
                   0.05);  // below the lowest, and no slope to continue
  EXPECT_TRUE(
      std::isfinite(target_level(three, std::vector<double>{-1.7e308, 0.0, 1.7e308}, 1.2e308)));
  EXPECT_TRUE(std::isnan(target_level(levels_of({0.5}), std::vector<double>{2}, 2.0)));
  EXPECT_TRUE(std::isnan(target_level(three, std::vector<double>{1, 2, 3}, std::nan(""))));
}

}  // namespace
}  // namespace tare
