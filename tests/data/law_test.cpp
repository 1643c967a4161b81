// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "data/largest_gap.h"
#include "infinity.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr LawShape kShapes[] = {LawShape::kNormal, LawShape::kUniform, LawShape::kSkewed,
                                LawShape::kHeavy, LawShape::kBimodal};

class EveryShape : public testing::TestWithParam<LawShape> {};
INSTANTIATE_TEST_SUITE_P(Law, EveryShape, testing::ValuesIn(kShapes));

TEST_P(EveryShape, CdfUndoesTheQuantile) {
  const Law law{GetParam(), 3.0, 0.7};
  for (int i = 1; i < 1000; ++i) {
    const double tau = i / 1000.0;
    // y is rounded to 4e-16 or so, over a scale of 0.7, at a density of at most 1.
    EXPECT_NEAR(law.cdf(law.quantile(tau)), tau, 5e-15) << tau;
  }
  for (const double tau : {1e-12, 1e-6, 1.0 - 1e-6}) {
    EXPECT_NEAR(law.cdf(law.quantile(tau)), tau, 5e-15) << tau;
  }
}

TEST_P(EveryShape, CdfRisesFromZeroToOne) {
  const Law law{GetParam(), -2.0, 1.5};
  EXPECT_EQ(law.cdf(-kInf), 0.0);
  EXPECT_EQ(law.cdf(kInf), 1.0);
  double last = 0.0;
  for (double y = -60.0; y <= 60.0; y += 0.01) {
    const double share = law.cdf(y);
    EXPECT_GE(share, last) << y;
    EXPECT_LE(share, 1.0) << y;
    last = share;
  }
}

TEST_P(EveryShape, QuantilesRiseAndEndsAreTheSupport) {
  const Law law{GetParam(), 1.0, 2.0};
  double last = law.quantile(0.0);
  for (int i = 1; i < 1000; ++i) {
    const double q = law.quantile(i / 1000.0);
    EXPECT_GT(q, last) << i;
    last = q;
  }
  EXPECT_GT(law.quantile(1.0), last);
  EXPECT_EQ(law.cdf(law.quantile(0.0)), 0.0);
  EXPECT_EQ(law.cdf(law.quantile(1.0)), 1.0);
  EXPECT_TRUE(std::isnan(law.quantile(-0.1)));
  EXPECT_TRUE(std::isnan(law.quantile(1.1)));
}

TEST_P(EveryShape, PointMassWhenTheScaleIsZero) {
  const Law law{GetParam(), 4.0, 0.0};
  EXPECT_EQ(law.cdf(3.999), 0.0);
  EXPECT_EQ(law.cdf(4.0), 1.0);
  for (const double tau : {0.0, 0.1, 1.0}) EXPECT_EQ(law.quantile(tau), 4.0);
  Rng rng(Seed{1});
  EXPECT_EQ(law.draw(rng), 4.0);
  EXPECT_EQ(law.mean(), 4.0);
}

TEST_P(EveryShape, DrawsFollowTheCdf) {
  const Law law{GetParam(), -1.0, 3.0};
  Rng rng(Seed{17});
  std::vector<double> shares(200000);
  for (double& share : shares) share = law.cdf(law.draw(rng));
  EXPECT_LT(largest_gap(shares), 2.0 / std::sqrt(200000.0));
}

// The mean is the integral of the quantiles. The midpoint rule misses a tail of mass 1/(2n): at
// most n^(-2/3) for t(3), which is symmetric besides, and log(n)/n for the exponential.
TEST_P(EveryShape, MeanIsTheIntegralOfTheQuantiles) {
  const Law law{GetParam(), 5.0, 2.0};
  constexpr int kSteps = 100000;
  double sum = 0.0;
  for (int i = 0; i < kSteps; ++i) sum += law.quantile((i + 0.5) / kSteps);
  EXPECT_NEAR(sum / kSteps, law.mean(), 1e-4);
}

// A law with a jump at 0: where in the shape the 0 lies must not matter.
class JumpAtZero : public testing::TestWithParam<LawShape> {
 protected:
  std::vector<Law> laws() const {
    std::vector<Law> all;
    for (const double location : {-3.0, 0.0, 0.4, 3.0}) {
      for (const double at_zero : {0.05, 0.3, 0.9})
        all.push_back({GetParam(), location, 0.7, at_zero});
    }
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Law, JumpAtZero, testing::ValuesIn(kShapes));

TEST_P(JumpAtZero, IsAsHighAsItsProbability) {
  for (const Law& law : laws()) {
    EXPECT_NEAR(law.cdf(0.0) - law.cdf_below(0.0), law.at_zero, 1e-15);
    EXPECT_EQ(law.cdf(0.3), law.cdf_below(0.3));
    EXPECT_EQ(law.cdf(-kInf), 0.0);
    EXPECT_EQ(law.cdf_below(-kInf), 0.0);
    EXPECT_EQ(law.cdf(kInf), 1.0);
    EXPECT_EQ(law.cdf_below(kInf), 1.0);
  }
}

TEST_P(JumpAtZero, TheLevelLiesBetweenBothSidesOfItsQuantile) {
  for (const Law& law : laws()) {
    double last = -kInf;
    for (int i = 1; i < 1000; ++i) {
      const double tau = i / 1000.0;
      const double q = law.quantile(tau);
      EXPECT_GE(q, last);
      last = q;
      // As for the laws without a jump, and a level is divided by at least 0.1 on the way.
      EXPECT_GE(law.cdf(q), tau - 1e-14) << law.location << ' ' << law.at_zero << ' ' << tau;
      EXPECT_LE(law.cdf_below(q), tau + 1e-14) << law.location << ' ' << law.at_zero << ' ' << tau;
    }
  }
}

// By definition and by bisection on the cdf alone.
TEST_P(JumpAtZero, QuantileIsTheSmallestValueThatReachesTheLevel) {
  for (const Law& law : laws()) {
    for (const double tau : {0.013, 0.2, 0.5, 0.77, 0.99}) {
      double low = -100.0;
      double high = 100.0;
      for (int step = 0; step < 200; ++step) {
        const double middle = 0.5 * (low + high);
        (law.cdf(middle) >= tau ? high : low) = middle;
      }
      // The cdf is known to 1e-16 or so, and no density here is below 1e-3 at these levels.
      EXPECT_NEAR(law.quantile(tau), high, 1e-12) << law.location << ' ' << law.at_zero;
    }
  }
}

TEST_P(JumpAtZero, MeanIsThatOfTheDraws) {
  const Law law{GetParam(), 5.0, 2.0, 0.4};
  Rng rng(Seed{23});
  double sum = 0.0;
  int zeros = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double y = law.draw(rng);
    sum += y;
    zeros += y == 0.0 ? 1 : 0;
  }
  // No law here has a standard deviation above 5; four standard errors of each.
  EXPECT_NEAR(sum / kDraws, law.mean(), 4.0 * 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(static_cast<double>(zeros) / kDraws, 0.4, 4.0 * std::sqrt(0.24 / kDraws));
}

TEST(TwoPoints, AJumpAtZeroAndAnother) {
  const Law law{LawShape::kNormal, 3.0, 0.0, 0.25};  // 0 with 1/4, else 3
  EXPECT_EQ(law.quantile(0.25), 0.0);
  EXPECT_EQ(law.quantile(0.26), 3.0);
  EXPECT_EQ(law.cdf_below(3.0), 0.25);
  EXPECT_EQ(law.cdf(3.0), 1.0);
  EXPECT_EQ(law.mean(), 2.25);
}

}  // namespace
}  // namespace tare
