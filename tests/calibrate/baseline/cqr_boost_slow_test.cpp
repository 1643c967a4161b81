// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

TEST(CqrBoostSlow, IntervalsCoverWhatTheyPromiseOnAverage) {
  // The true probability of the interval at 50 new x, averaged, so that only the draws vary.
  constexpr std::uint64_t kDraws = 200;
  const Problem& problem = find_problem("skewed_2");
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {low, high};
  double sum = 0.0, squares = 0.0;
  for (std::uint64_t draw_number = 0; draw_number < kDraws; ++draw_number) {
    const Sample train = draw(problem, 300, split(Seed{31}, draw_number));
    const Sample test = draw(problem, 50, split(Seed{32}, draw_number));
    FitInput input{.x = train.x, .y = train.y};
    input.seed = Seed{draw_number};
    const auto model = fit_method(find_method("cqr_boost"), input, {});
    const Prediction p = model->predict({test.x}, levels);
    double covered = 0.0;
    for (std::size_t i = 0; i < 50; ++i) {
      const Law law = problem.law(test.x.row(i));
      covered += (law.cdf(p.quantiles(i, 1)) - law.cdf(p.quantiles(i, 0))) / 50.0;
    }
    sum += covered;
    squares += covered * covered;
  }
  const double mean = sum / kDraws;
  const double error = std::sqrt((squares / kDraws - mean * mean) / (kDraws - 1));
  // 90 of 300 rows calibrate, so the promise is 0.9 to 0.9 + 1/91, and more where bands are widened
  // to nest. Four standard errors.
  EXPECT_GE(mean, 0.9 - 4.0 * error);
  EXPECT_LE(mean, 0.9 + 1.0 / 91.0 + 0.01 + 4.0 * error);
}

}  // namespace
}  // namespace tare
