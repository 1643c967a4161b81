// SPDX-License-Identifier: BSD-3-Clause
#include "tare/data/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "data/largest_gap.h"
#include "tare/base/error.h"

namespace tare {
namespace {

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
