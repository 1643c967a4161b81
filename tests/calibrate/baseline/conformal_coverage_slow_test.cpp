// SPDX-License-Identifier: BSD-3-Clause
// The one thing CQR and OQR guarantee: coverage on average, whatever the network has learned.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

class ConformalCoverage : public testing::TestWithParam<const char*> {};

TEST_P(ConformalCoverage, IsAtLeastTheNominalOneOnAverage) {
  constexpr std::size_t kDraws = 200;
  constexpr std::size_t kRows = 200;
  constexpr double kHeldOut = 60.0;  // split=0.3
  const Problem& problem = find_problem("skewed_2");
  const auto [lower, upper] = interval_levels(0.9);
  const std::vector<Level> levels = {lower, upper};
  double covered = 0.0;
  for (std::uint64_t s = 0; s < kDraws; ++s) {
    const Sample data = draw(problem, kRows, split(Seed{11}, s));
    const Sample fresh = draw(problem, 500, split(Seed{12}, s));
    FitInput input{.x = data.x, .y = data.y};
    input.seed = Seed{s};
    const auto model = fit_method(find_method(GetParam()), input, Params::parse("epochs=5"));
    const Matrix q = model->predict({fresh.x}, levels).quantiles;
    for (std::size_t i = 0; i < 500; ++i) {  // the exact probability leaves less to chance
      const Law law = problem.law(fresh.x.row(i));
      covered += (law.cdf(q(i, 1)) - law.cdf(q(i, 0))) / 500.0 / kDraws;
    }
  }
  // One fit's coverage is a Beta variable of mean 55/61 (the rank is 55 of 60 rows), plus the
  // choice of 500 x: its standard deviation is sqrt(0.9 * 0.1 / 62) = 0.038, that of the mean of
  // 200 fits 0.0027. Three of these below 0.9; widening the pairs so that they nest adds a little
  // on top.
  const double standard_error = std::sqrt(0.9 * 0.1 / (kHeldOut + 2.0) / kDraws);
  std::printf("%s: coverage %.4f, standard error %.4f\n", GetParam(), covered, standard_error);
  EXPECT_GE(covered, 0.9 - 3.0 * standard_error);
  EXPECT_LE(covered, 0.95);
}

INSTANTIATE_TEST_SUITE_P(All, ConformalCoverage, testing::Values("cqr", "oqr"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace tare
