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
  std::vector<double> shares(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    shares[i] = problem.law(sample.x.row(i)).cdf(sample.y[i]);
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
