// SPDX-License-Identifier: BSD-3-Clause
#include "tare/data/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tare/base/error.h"

namespace tare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
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
  EXPECT_EQ(law.cdf(-kInfinity), 0.0);
  EXPECT_EQ(law.cdf(kInfinity), 1.0);
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

// Kolmogorov and Smirnov: the largest gap between the shares of n draws and the law exceeds
// 2.0 / sqrt(n) with probability 2 exp(-8), about 7e-4; with fixed seeds the outcome never changes.
double largest_gap(std::vector<double> shares) {
  std::sort(shares.begin(), shares.end());
  const auto n = static_cast<double>(shares.size());
  double gap = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto below = static_cast<double>(i);
    gap = std::max({gap, shares[i] - below / n, (below + 1.0) / n - shares[i]});
  }
  return gap;
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
    EXPECT_EQ(law.cdf(-kInfinity), 0.0);
    EXPECT_EQ(law.cdf_below(-kInfinity), 0.0);
    EXPECT_EQ(law.cdf(kInfinity), 1.0);
    EXPECT_EQ(law.cdf_below(kInfinity), 1.0);
  }
}

TEST_P(JumpAtZero, TheLevelLiesBetweenBothSidesOfItsQuantile) {
  for (const Law& law : laws()) {
    double last = -kInfinity;
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

class EveryProblem : public testing::TestWithParam<std::string> {};
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Problem& problem : problems()) all.push_back(problem.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Problem, EveryProblem, testing::ValuesIn(names()),
                         [](const auto& row) { return row.param; });

TEST_P(EveryProblem, IsFoundByNameAndDescribed) {
  const Problem& problem = find_problem(GetParam());
  EXPECT_EQ(problem.name, GetParam());
  EXPECT_FALSE(problem.summary.empty());
  EXPECT_EQ(problem.summary.find('\n'), std::string::npos);
}

TEST_P(EveryProblem, DrawsFollowTheLawAtTheirX) {
  const Problem& problem = find_problem(GetParam());
  constexpr std::size_t kRows = 20000;
  const Sample sample = draw(problem, kRows, Seed{5});
  ASSERT_EQ(sample.x.rows(), kRows);
  ASSERT_EQ(sample.x.cols(), problem.dims);
  // A row at a jump is spread evenly over it: only so are the shares uniform for every law.
  Rng rng(Seed{6});
  std::vector<double> shares(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const Law law = problem.law(sample.x.row(i));
    shares[i] = rng.uniform(law.cdf_below(sample.y[i]), law.cdf(sample.y[i]));
  }
  EXPECT_LT(largest_gap(shares), 2.0 / std::sqrt(static_cast<double>(kRows)));
}

TEST_P(EveryProblem, ALongerSampleBeginsWithAShorterOne) {
  const Problem& problem = find_problem(GetParam());
  const Sample shorter = draw(problem, 20, Seed{9});
  const Sample longer = draw(problem, 50, Seed{9});
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(shorter.y[i], longer.y[i]);
    EXPECT_TRUE(std::ranges::equal(shorter.x.row(i), longer.x.row(i)));
  }
  EXPECT_NE(draw(problem, 20, Seed{10}).y, shorter.y);
}

TEST(Problems, HaveDistinctNames) {
  const std::vector<std::string> all = names();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(FindProblem, ReadsDashesAndCapitals) {
  EXPECT_EQ(find_problem("Uniform-Wedge").name, "uniform_wedge");
}

TEST(FindProblem, UnknownNameListsTheKnown) {
  try {
    find_problem("cosine");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    const std::string text = error.what();
    EXPECT_THAT(text, testing::HasSubstr("cosine"));
    for (const std::string& name : names()) EXPECT_THAT(text, testing::HasSubstr(name));
  }
}

TEST(SineProblem, IsThePapersFormula) {
  const double x[] = {7.5};
  const Law law = find_problem("sine").law(x);
  EXPECT_NEAR(law.location, 0.0, 1e-14);  // sin(pi) in doubles
  EXPECT_DOUBLE_EQ(law.scale, 1.5 * std::fabs(std::sin(7.5)));
  const double quiet[] = {0.01};
  EXPECT_EQ(find_problem("sine").law(quiet).scale, 0.1);
}

TEST(UniformProblems, HaveThePapersQuantiles) {
  const double x[] = {0.8};
  EXPECT_DOUBLE_EQ(find_problem("uniform_wedge").law(x).quantile(0.25), 0.2);
  const Law scaled = find_problem("scaled_uniform").law(x);
  EXPECT_DOUBLE_EQ(scaled.quantile(0.75), 0.4);
  EXPECT_DOUBLE_EQ(scaled.quantile(0.5), 0.0);
  EXPECT_DOUBLE_EQ(scaled.mean(), 0.0);
}

TEST(KnownLawProblem, IrrelevantFeaturesDoNotMatterAndRelevantOnesDo) {
  const Problem problem = known_law_problem(LawShape::kSkewed, 6, 2);
  Rng rng(Seed{3});
  std::vector<double> x(6);
  for (int repeat = 0; repeat < 50; ++repeat) {
    problem.draw_x(rng, x);
    const Law before = problem.law(x);
    for (std::size_t j = 2; j < 6; ++j) x[j] = rng.uniform();
    const Law after = problem.law(x);
    EXPECT_EQ(before.location, after.location);
    EXPECT_EQ(before.scale, after.scale);
    x[1] = std::fmod(x[1] + 0.3, 1.0);
    EXPECT_NE(problem.law(x).location, before.location);
    EXPECT_NE(problem.law(x).scale, before.scale);
  }
}

TEST(KnownLawProblem, SpreadsAreSmoothKinkedOrStepped) {
  const auto scale = [](Spread spread, double x) {
    return known_law_problem(LawShape::kNormal, 1, 1, spread).law(std::vector<double>{x}).scale;
  };
  for (const Spread spread : {Spread::kSmooth, Spread::kKinked, Spread::kStepped}) {
    EXPECT_DOUBLE_EQ(scale(spread, 0.0), 0.5 * std::exp(1.0));
  }
  EXPECT_DOUBLE_EQ(scale(Spread::kKinked, 1.0), 0.5 * std::exp(1.0));
  EXPECT_DOUBLE_EQ(scale(Spread::kKinked, 0.5), 0.5 * std::exp(-1.0));
  // One-sided slopes of the logarithm at 1/2: equal where smooth, opposite at the kink.
  const auto slope = [&](Spread spread, double step) {
    return (std::log(scale(spread, 0.5 + step)) - std::log(scale(spread, 0.5))) / step;
  };
  EXPECT_NEAR(slope(Spread::kSmooth, 1e-6), slope(Spread::kSmooth, -1e-6), 1e-5);
  EXPECT_NEAR(slope(Spread::kKinked, 1e-6), 4.0, 1e-5);
  EXPECT_NEAR(slope(Spread::kKinked, -1e-6), -4.0, 1e-5);
  EXPECT_DOUBLE_EQ(scale(Spread::kStepped, 0.4999), 0.5 * std::exp(1.0));
  EXPECT_DOUBLE_EQ(scale(Spread::kStepped, 0.5), 0.5 * std::exp(-1.0));
}

TEST(MassAtZero, DependsOnTheFeatures) {
  const Problem& zeros = find_problem("zeros_1");
  EXPECT_DOUBLE_EQ(zeros.law(std::vector<double>{0.25}).at_zero, 1.0 / (1.0 + std::exp(-2.0)));
  EXPECT_DOUBLE_EQ(zeros.law(std::vector<double>{0.75}).at_zero, 1.0 / (1.0 + std::exp(2.0)));
  EXPECT_EQ(zeros.law(std::vector<double>{0.25}).cdf_below(0.0), 0.0);  // amounts are positive
  const Sample sample = draw(zeros, 1000, Seed{4});
  for (const double y : sample.y) EXPECT_GE(y, 0.0);
}

TEST(KnownLawProblem, ScaleVariesByAFactorOfFive) {
  for (const std::size_t relevant : {1u, 2u, 5u}) {
    const Problem problem = known_law_problem(LawShape::kNormal, 5, relevant);
    const std::vector<double> low(5, 0.0);
    const std::vector<double> high(5, 1.0);
    EXPECT_GT(problem.law(low).scale, 5.0 * problem.law(high).scale);
  }
}

TEST(KnownLawProblem, RefusesAnImpossibleNumberOfRelevantFeatures) {
  EXPECT_THROW(known_law_problem(LawShape::kNormal, 3, 0), Error);
  EXPECT_THROW(known_law_problem(LawShape::kNormal, 3, 4), Error);
}

}  // namespace
}  // namespace tare
