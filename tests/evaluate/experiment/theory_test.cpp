// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/theory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluate/experiment/study/column_pinball.h"
#include "expect_error.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

TEST(LogSlope, IsThatOfAPowerAndHasTheTextbooksError) {
  const std::vector<double> x = {1.0, 2.0, 4.0, 8.0};
  std::vector<double> y;
  for (const double v : x) y.push_back(3.0 * std::pow(v, -0.7));
  const LogSlope exact = log_slope(x, y);
  EXPECT_NEAR(exact.slope, -0.7, 1e-14);
  EXPECT_NEAR(exact.standard_error, 0.0, 1e-14);
  // By hand: log2 x = 0, 1, 2, 3 with log2 y = 0, 1, 1, 2: slope 0.6, residuals -0.1, 0.3, -0.3,
  // 0.1 with squares of 0.2, so the error is sqrt(0.2 / 2 / 5).
  const LogSlope fitted = log_slope(x, std::vector<double>{1.0, 2.0, 2.0, 4.0});
  EXPECT_NEAR(fitted.slope, 0.6, 1e-14);
  EXPECT_NEAR(fitted.standard_error, std::sqrt(0.02), 1e-14);
  EXPECT_TRUE(std::isnan(log_slope(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}).standard_error));
}

TEST(ExpectedNormalPinball, IsTheMeanOverDraws) {
  Rng rng(Seed{3});
  constexpr int kDraws = 200'000;
  double sum = 0.0;
  for (int i = 0; i < kDraws; ++i) sum += pinball(2.0 * rng.normal(), 1.3, 0.7);
  // A pinball loss of N(0, 4) has a standard deviation of about 0.8: four standard errors.
  EXPECT_NEAR(expected_normal_pinball(1.3, 2.0, Level{0.7}), sum / kDraws,
              4.0 * 0.8 / std::sqrt(kDraws));
}

TEST(FeatureGrid, HasEveryCombinationOnceTheFirstSlowest) {
  const Matrix grid = feature_grid(2, 2);
  EXPECT_EQ(std::vector<double>(grid.values().begin(), grid.values().end()),
            (std::vector<double>{0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75}));
}

/// The same by brute force: of all candidates in a fine row, the one with the lowest loss.
double searched_loss(std::span<const double> sds, Level level) {
  double best = 1e9;
  for (double q = -4.0; q <= 4.0; q += 0.001) {
    double loss = 0.0;
    for (const double sd : sds) loss += expected_normal_pinball(q, sd, level);
    best = std::min(best, loss / static_cast<double>(sds.size()));
  }
  return best;
}

TEST(BestColumnPinball, IsTheLowestThatASearchFinds) {
  const Problem problem = known_law_problem(LawShape::kNormal, 2, 2);
  const std::vector<Level> levels = {Level{0.9}};
  const std::vector<double> loss = best_column_pinball(problem, 3, levels);
  const Matrix grid = feature_grid(2, 3);
  std::vector<double> sds;
  for (std::size_t i = 0; i < 9; ++i) sds.push_back(problem.law(grid.row(i)).scale);
  const std::span<const double> all = sds;
  // The loss is flat at its lowest: half a step of the search, 0.0005, costs less than 1e-6.
  EXPECT_NEAR(loss[0], searched_loss(all, levels[0]), 1e-6);
  double one = 0.0;
  for (std::size_t k = 0; k < 3; ++k) one += searched_loss(all.subspan(3 * k, 3), levels[0]) / 3.0;
  EXPECT_NEAR(loss[1], one, 1e-6);
  double two = 0.0;
  for (const double& sd : sds) two += searched_loss({&sd, 1}, levels[0]) / 9.0;
  EXPECT_NEAR(loss[2], two, 1e-6);
}

TheoryOptions small_options() {
  TheoryOptions options;
  options.samples = 2;
  options.queries = 20;
  options.least_rows = 50;
  options.most_rows = 200;
  options.column_rows = {60};
  options.grid = 3;
  return options;
}

TEST(Theory, DoesNotDependOnThreads) {
  const Theory one = run_theory(small_options(), {.threads = 1, .progress = {}});
  const Theory four = run_theory(small_options(), {.threads = 4, .progress = {}});
  ASSERT_EQ(one.rates.size(), 5U);
  for (std::size_t k = 0; k < one.rates.size(); ++k) {
    EXPECT_EQ(one.rates[k].rows, (std::vector<double>{50.0, 100.0, 200.0}));
    EXPECT_EQ(one.rates[k].error, four.rates[k].error);
  }
  for (std::size_t k = 0; k < one.columns.size(); ++k) {
    EXPECT_EQ(one.columns[k].loss, four.columns[k].loss);
  }
  TheoryOptions other = small_options();
  other.seed = Seed{2};
  EXPECT_NE(run_theory(other, {}).rates[0].error, one.rates[0].error);
}

TEST(Theory, TheBestLossFallsWithEveryFeatureAndNoEstimateBeatsIt) {
  const Theory theory = run_theory(small_options(), {});
  ASSERT_EQ(theory.columns.size(), 2U);
  const std::vector<double>& best = theory.columns[0].loss;
  ASSERT_EQ(best.size(), 5U);
  for (std::size_t k = 1; k < best.size(); ++k) EXPECT_LT(best[k], best[k - 1]);
  for (std::size_t k = 0; k < best.size(); ++k) EXPECT_GE(theory.columns[1].loss[k], best[k]);
}

TEST(Theory, RefusesNothingToDo) {
  TheoryOptions options = small_options();
  options.samples = 0;
  expect_error(ErrorCode::kInvalidArgument, "samples", [&] { run_theory(options, {}); });
  options = small_options();
  options.most_rows = 10;
  expect_error(ErrorCode::kInvalidArgument, "rows", [&] { run_theory(options, {}); });
}

}  // namespace
}  // namespace tare
