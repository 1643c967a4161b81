// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "evaluate/forecasts.h"
#include "evaluate/groups.h"
#include "tare/base/error.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

// E|B/n - tau| by summing over every outcome in long double.
double summed_deviation(int n, double tau) {
  long double sum = 0.0L;
  const auto p = static_cast<long double>(tau);
  for (int k = 0; k <= n; ++k) {
    const long double log_probability = std::lgamma(static_cast<long double>(n + 1)) -
                                        std::lgamma(static_cast<long double>(k + 1)) -
                                        std::lgamma(static_cast<long double>(n - k + 1)) +
                                        static_cast<long double>(k) * std::log(p) +
                                        static_cast<long double>(n - k) * std::log1p(-p);
    sum += std::exp(log_probability) *
           std::fabs(static_cast<long double>(k) / static_cast<long double>(n) - p);
  }
  return static_cast<double>(sum);
}

std::vector<Level> midpoint_levels(int count) {
  std::vector<Level> levels;
  for (int j = 0; j < count; ++j) levels.emplace_back((j + 0.5) / count);
  return levels;
}

TEST(MaceFloor, IsTheMeanAbsoluteDeviationOfABinomial) {
  for (const int n : {1, 2, 3, 7, 15, 16, 17, 33, 51, 100, 1000}) {
    for (const double tau : {1e-6, 0.01, 0.25, 0.3, 0.5, 0.9, 0.99, 1.0 - 1e-9}) {
      const std::vector<Level> level = {Level{tau}};
      const double want = summed_deviation(n, tau);
      EXPECT_NEAR(mace_floor(static_cast<std::size_t>(n), level), want, 1e-12 * want)
          << n << " " << tau;
    }
  }
}

TEST(MaceFloor, OneRowIsTwiceTheVariance) {
  const std::vector<Level> level = {Level{0.3}};
  EXPECT_DOUBLE_EQ(mace_floor(1, level), 2.0 * 0.3 * 0.7);
}

// The mean of sqrt(2 tau (1 - tau) / pi) is sqrt(2 / pi) pi / 8 = 0.31333 over all of (0, 1); the
// paper's levels leave out the first and last percent and so average 0.31618.
TEST(MaceFloor, FallsWithTheSquareRootOfTheRows) {
  const double root = std::sqrt(1e6);
  EXPECT_NEAR(mace_floor(1000000, midpoint_levels(2000)) * root, 0.31333, 2e-5);
  EXPECT_NEAR(mace_floor(1000000, metric_levels()) * root, 0.31618, 1e-5);
  EXPECT_NEAR(mace_floor(1000000000000ULL, metric_levels()) * 1e6, 0.31618, 1e-5);
}

TEST(MaceFloor, BostonsFiftyOneRows) {
  EXPECT_NEAR(mace_floor(51, metric_levels()), 0.0443, 5e-5);
  EXPECT_NEAR(mace_floor(51, metric_levels()), 0.3133 / std::sqrt(51.0), 5e-4);
}

// Over 2000 samples the mean of MACE errs by sd / sqrt(2000); MACE's sd is below half of its mean,
// so five standard errors are below 5.6 %. The seeds are fixed: the outcome never changes.
TEST(MaceFloor, IsWhatPerfectForecastsScoreOnAverage) {
  const Problem& problem = find_problem("hetero_2");
  const std::vector<Level> levels = metric_levels();
  constexpr std::size_t kRows = 51;
  constexpr int kRepeats = 2000;
  double sum = 0.0;
  for (std::uint64_t r = 0; r < kRepeats; ++r) {
    const Sample sample = draw(problem, kRows, split(Seed{21}, r));
    sum += mace(sample.y, true_quantiles(problem, sample.x, levels), levels);
  }
  const double floor = mace_floor(kRows, levels);
  EXPECT_NEAR(sum / kRepeats, floor, 0.056 * floor);
}

// AGCE varies by a quarter of its mean: five standard errors of 1000 samples are 4 %, plus the
// floor's own 1 %.
TEST(AgceFloor, IsWhatPerfectForecastsScoreOnAverage) {
  const Problem& problem = find_problem("skewed_1");
  const std::vector<Level> levels = metric_levels();
  constexpr int kRepeats = 1000;
  for (const std::size_t rows : {51u, 104u}) {
    double sum = 0.0;
    for (std::uint64_t r = 0; r < kRepeats; ++r) {
      const Sample sample = draw(problem, rows, split(Seed{22}, r));
      sum += agce(sample.y, true_quantiles(problem, sample.x, levels), levels, split(Seed{23}, r));
    }
    const double floor = agce_floor(rows, levels, Seed{1});
    EXPECT_NEAR(sum / kRepeats, floor, 0.05 * floor) << rows;
  }
}

TEST(AgceFloor, HardlyDependsOnTheSeed) {
  const std::vector<Level> levels = metric_levels();
  for (const std::size_t rows : {51u, 1000u, 20000u}) {
    const double first = agce_floor(rows, levels, Seed{1});
    EXPECT_EQ(first, agce_floor(rows, levels, Seed{1}));
    for (const std::uint64_t seed : {2u, 3u, 4u}) {
      EXPECT_NEAR(agce_floor(rows, levels, Seed{seed}), first, 0.05 * first) << rows;
    }
  }
}

TEST(AgceFloor, DoesNotDependOnTheOrderOfTheLevels) {
  std::vector<Level> levels = metric_levels();
  const double ascending = agce_floor(200, levels, Seed{5});
  std::reverse(levels.begin(), levels.end());
  EXPECT_NEAR(agce_floor(200, levels, Seed{5}), ascending, 1e-14);
}

// Simulated rows end at 1000; the step to the scaled formula must not show beyond the noise of 1 %.
TEST(AgceFloor, FallsWithTheSquareRootOfTheRows) {
  const std::vector<Level> levels = metric_levels();
  const double at_thousand = agce_floor(1000, levels, Seed{7});
  EXPECT_NEAR(agce_floor(100000, levels, Seed{8}), at_thousand / 10.0, 0.05 * at_thousand / 10.0);
  EXPECT_NEAR(agce_floor(250, levels, Seed{9}), at_thousand * 2.0, 0.06 * at_thousand * 2.0);
}

TEST(Floors, RefuseNothing) {
  const std::vector<Level> none;
  EXPECT_THROW(mace_floor(0, metric_levels()), Error);
  EXPECT_THROW(mace_floor(5, none), Error);
  EXPECT_THROW(agce_floor(0, metric_levels(), Seed{}), Error);
  EXPECT_THROW(agce_floor(5, none, Seed{}), Error);
}

TEST(WorstGroup, DrawsTenGroupsOfATenthWithoutReplacement) {
  for (const std::size_t rows : {1u, 4u, 14u, 15u, 51u, 1000u}) {
    std::size_t groups = 0;
    std::set<std::vector<std::size_t>> distinct;
    worst_group(rows, Seed{3}, [&](std::span<const std::size_t> group) {
      ++groups;
      EXPECT_EQ(group.size(), agce_group_size(rows));
      const std::set<std::size_t> members(group.begin(), group.end());
      EXPECT_EQ(members.size(), group.size());
      EXPECT_LT(*members.rbegin(), rows);
      distinct.insert(std::vector<std::size_t>(group.begin(), group.end()));
      return 0.0;
    });
    EXPECT_EQ(groups, 10u);
    if (rows >= 1000) {
      EXPECT_EQ(distinct.size(), 10u);
    }
  }
  EXPECT_EQ(agce_group_size(1), 1u);
  EXPECT_EQ(agce_group_size(14), 1u);
  EXPECT_EQ(agce_group_size(15), 2u);
  EXPECT_EQ(agce_group_size(51), 5u);
}

// Each row falls into a group with probability 1/10: over 10 * 4000 groups a row's count is within
// five standard deviations, 5 * sqrt(40000 * 0.09) = 300, of 4000.
TEST(WorstGroup, IsFairToEveryRow) {
  std::vector<int> drawn(20, 0);
  for (std::uint64_t r = 0; r < 4000; ++r) {
    worst_group(20, Seed{r}, [&](std::span<const std::size_t> group) {
      for (const std::size_t i : group) ++drawn[i];
      return 0.0;
    });
  }
  for (const int count : drawn) EXPECT_NEAR(count, 4000, 300);
}

TEST(RepeatedMaceFloor, CountsCopiesAsOneRow) {
  const auto levels = metric_levels();
  std::vector<std::size_t> source(500);
  std::iota(source.begin(), source.end(), std::size_t{0});
  EXPECT_NEAR(repeated_mace_floor(source, levels, Seed{1}), mace_floor(500, levels),
              0.03 * mace_floor(500, levels));  // 2,000 draws, whose sd is a third of the mean
  for (std::size_t& row : source) row %= 5;
  EXPECT_NEAR(repeated_mace_floor(source, levels, Seed{2}), mace_floor(5, levels),
              0.03 * mace_floor(5, levels));
  std::fill(source.begin(), source.end(), std::size_t{7});
  EXPECT_NEAR(repeated_mace_floor(source, levels, Seed{3}), mace_floor(1, levels),
              0.03 * mace_floor(1, levels));
}

}  // namespace
}  // namespace tare
