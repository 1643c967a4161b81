// SPDX-License-Identifier: BSD-3-Clause
#include "math/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tare {
namespace {

TEST(StudentT, HasClosedFormsForOneAndTwoDegreesOfFreedom) {
  for (double t = -30.0; t <= 30.0; t += 0.37) {
    EXPECT_NEAR(student_t_cdf(t, 1.0), 0.5 + std::atan(t) / std::numbers::pi, 1e-13) << t;
    EXPECT_NEAR(student_t_cdf(t, 2.0), 0.5 + t / (2.0 * std::sqrt(2.0 + t * t)), 1e-13) << t;
  }
}

TEST(StudentT, IsTheIntegralOfItsDensity) {
  for (const double freedom : {3.0, 4.0, 9.0, 19.0, 99.5}) {
    // Simpson's rule on [0, 2.5] with 2,000 steps is exact to 1e-13 for a density this smooth.
    const double front = std::exp(std::lgamma((freedom + 1.0) / 2.0) - std::lgamma(freedom / 2.0)) /
                         std::sqrt(freedom * std::numbers::pi);
    const auto density = [&](double t) {
      return front * std::pow(1.0 + t * t / freedom, -(freedom + 1.0) / 2.0);
    };
    constexpr int kSteps = 2'000;
    const double h = 2.5 / kSteps;
    double sum = density(0.0) + density(2.5);
    for (int k = 1; k < kSteps; ++k) sum += (k % 2 == 1 ? 4.0 : 2.0) * density(k * h);
    EXPECT_NEAR(student_t_cdf(2.5, freedom), 0.5 + sum * h / 3.0, 1e-12) << freedom;
  }
}

TEST(StudentT, TheQuantileUndoesTheCdf) {
  for (const double freedom : {1.0, 2.0, 4.0, 9.0, 200.0}) {
    for (const double p : {0.001, 0.025, 0.3, 0.5, 0.7, 0.975, 0.9999}) {
      EXPECT_NEAR(student_t_cdf(student_t_quantile(p, freedom), freedom), p, 1e-12);
    }
  }
}

}  // namespace
}  // namespace tare
