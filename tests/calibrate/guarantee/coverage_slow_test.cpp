// SPDX-License-Identifier: BSD-3-Clause
// What order statistics cover is known exactly; SNQ must cover just that, no more and no less.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// Mean over many samples of the true probability between SNQ's 5 % and 95 % quantiles. With a
/// window of k rows whose law is the same, these are order statistics l and u of k, and the mean is
/// (u - l) / (k + 1) whatever the law.
void expect_exact_coverage(std::size_t rows, const SnqOptions& options, std::size_t window) {
  constexpr std::uint64_t kDraws = 20'000;
  const Problem& flat = find_problem("flat");
  const auto [lower, upper] = interval_levels(0.9);
  const std::vector<Level> levels = {lower, upper};
  const Law law = flat.law(std::vector<double>{0.5});
  double covered = 0.0;
  for (std::uint64_t s = 0; s < kDraws; ++s) {
    const Sample data = draw(flat, rows, split(Seed{rows}, s));
    const Prediction p = Snq(data.x, data.y, {}, options).predict(Matrix(1, 1, 0.5), levels);
    covered += (law.cdf(p.quantiles(0, 1)) - law.cdf(p.quantiles(0, 0))) / kDraws;
  }
  const auto l = static_cast<double>(lower.rank(window));
  const auto u = static_cast<double>(upper.rank(window));
  const double expected = (u - l) / static_cast<double>(window + 1);
  // The coverage of one sample is a Beta variable; four standard errors of the mean.
  const double sd = std::sqrt(expected * (1.0 - expected) / static_cast<double>(window + 2));
  EXPECT_NEAR(covered, expected, 4.0 * sd / std::sqrt(static_cast<double>(kDraws)))
      << window << " of " << rows << " rows";
}

TEST(Coverage, OfAMarginalCalibratorIsThatOfItsOrderStatistics) {
  for (const std::size_t rows : {20U, 50U, 200U}) {
    expect_exact_coverage(rows, {.bandwidth = std::numeric_limits<double>::infinity()}, rows);
  }
}

TEST(Coverage, OfANeighbourhoodIsThatOfItsOrderStatistics) {
  for (const std::size_t k : {19U, 40U, 100U}) {
    expect_exact_coverage(400, {.kernel = KernelKind::kKnn, .bandwidth = static_cast<double>(k)},
                          k);
  }
}

/// With expected ranks the mean coverage is the level's, also of windows whose outermost quantiles
/// lie beyond their rows.
TEST(Coverage, OfSmallWindowsIsTheLevelWithExpectedRanks) {
  constexpr std::uint64_t kDraws = 20'000;
  const Problem& flat = find_problem("flat");
  const auto [lower, upper] = interval_levels(0.9);
  const std::vector<Level> levels = {lower, upper};
  const Law law = flat.law(std::vector<double>{0.5});
  for (const std::size_t k : {8U, 12U, 19U, 40U, 100U}) {
    const SnqOptions options{
        .kernel = KernelKind::kKnn, .bandwidth = static_cast<double>(k), .ranks = Ranks::kExpected};
    double covered = 0.0;
    for (std::uint64_t s = 0; s < kDraws; ++s) {
      const Sample data = draw(flat, 400, split(Seed{k}, s));
      const Prediction p = Snq(data.x, data.y, {}, options).predict(Matrix(1, 1, 0.5), levels);
      covered += (law.cdf(p.quantiles(0, 1)) - law.cdf(p.quantiles(0, 0))) / kDraws;
    }
    // Four standard errors are 0.003 and less. Interpolation is exact to first order, and a tail is
    // a guess at the law beyond the rows, which for a normal one is good to 0.01.
    EXPECT_NEAR(covered, 0.9, k < 19 ? 0.013 : 0.004) << k << " rows";
  }
}

}  // namespace
}  // namespace tare
