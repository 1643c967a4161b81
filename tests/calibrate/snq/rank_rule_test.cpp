// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/window/rank_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "math/normal.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

std::vector<Level> random_levels(Rng& rng, std::size_t count) {
  std::vector<Level> levels;
  for (std::size_t j = 0; j < count; ++j) {
    const double tail = std::pow(10.0, -1.0 - 14.0 * rng.uniform());
    const double tau = rng.below(4) == 0 ? tail : rng.uniform(0.001, 0.999);
    levels.emplace_back(rng.below(2) == 0 ? tau : 1.0 - tau);
  }
  std::sort(levels.begin(), levels.end());
  return levels;
}

/// The quantiles of sorted values of equal weight.
std::vector<double> quantiles(std::span<const double> sorted, std::span<const Level> levels,
                              Ranks kind = Ranks::kExpected) {
  RankRule rule(kind, levels);
  std::vector<double> values;
  for (const std::uint32_t rank : rule.ranks(sorted.size())) values.push_back(sorted[rank - 1]);
  std::vector<double> out(levels.size());
  rule.answer(values, out);
  return out;
}

TEST(RankRule, AnswersTheValueWhoseExpectedLevelIsTheOneAskedFor) {
  // Uniform draws: the i-th of n is expected at i / (n + 1). Answers are linear in the values, so
  // their expectation is what they are for the expected values.
  Rng rng(Seed{1});
  for (std::size_t n = 1; n <= 60; ++n) {
    std::vector<double> expected;
    for (std::size_t i = 1; i <= n; ++i) {
      expected.push_back(static_cast<double>(i) / static_cast<double>(n + 1));
    }
    const auto levels = random_levels(rng, 30);
    const auto answers = quantiles(expected, levels);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double tau = levels[j].value();
      if (tau < expected.front() || tau > expected.back()) continue;
      EXPECT_NEAR(answers[j], tau, 1e-14) << n << " rows";
    }
  }
}

TEST(RankRule, GivesARowItselfWhereItsExpectedLevelIsAskedFor) {
  std::vector<double> sorted;
  for (int i = 1; i <= 99; ++i) sorted.push_back(0.1 * i * i);
  std::vector<Level> levels;
  for (int i = 1; i <= 99; ++i) levels.emplace_back(i / 100.0);
  EXPECT_EQ(quantiles(sorted, levels), sorted);  // although 0.29 * 100 is less than 29
}

TEST(RankRule, AsksForRanksOfTheWindowThatRise) {
  Rng rng(Seed{2});
  RankRule rule;
  for (int trial = 0; trial < 2'000; ++trial) {
    const auto levels = random_levels(rng, rng.below(12));
    rule.start(Ranks::kExpected, levels);
    const std::size_t n = 1 + rng.below(trial % 2 == 0 ? 12 : 3'000);
    const auto ranks = rule.ranks(n);
    EXPECT_LE(ranks.size(), rule.most_ranks());
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      EXPECT_LE(ranks[k], n);
      EXPECT_GE(ranks[k], k == 0 ? 1 : ranks[k - 1] + 1);
    }
  }
}

TEST(RankRule, NeverCrossesAndIsFinite) {
  Rng rng(Seed{3});
  for (int trial = 0; trial < 3'000; ++trial) {
    const double size = std::vector{1.0, 1e-300, 1.7e308}[rng.below(3)];
    std::vector<double> sorted(1 + rng.below(30));
    for (double& value : sorted) {
      value = trial % 3 == 0 ? std::floor(rng.uniform(-2.0, 2.0)) : size * rng.uniform(-1.0, 1.0);
    }
    std::sort(sorted.begin(), sorted.end());
    const auto answers = quantiles(sorted, random_levels(rng, 20));
    EXPECT_TRUE(std::is_sorted(answers.begin(), answers.end())) << "trial " << trial;
    for (const double answer : answers) EXPECT_TRUE(std::isfinite(answer)) << "trial " << trial;
  }
}

TEST(RankRule, HasNoWidthWhereAllValuesAreEqual) {
  Rng rng(Seed{4});
  for (const double value : {0.1, 0.0, -3.7e300}) {
    for (std::size_t n = 1; n < 12; ++n) {
      const std::vector<double> sorted(n, value);
      for (const double answer : quantiles(sorted, random_levels(rng, 15))) {
        EXPECT_EQ(answer, value);
      }
    }
  }
}

TEST(RankRule, IsTheSameFromBothSides) {
  Rng rng(Seed{5});
  const std::vector<Level> levels = {Level{0.001}, Level{0.05}, Level{0.3},  Level{0.5},
                                     Level{0.7},   Level{0.95}, Level{0.999}};
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> sorted(1 + rng.below(40));
    for (double& value : sorted) value = rng.normal();
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> mirrored(sorted.rbegin(), sorted.rend());
    for (double& value : mirrored) value = -value;
    const auto left = quantiles(sorted, levels);
    const auto right = quantiles(mirrored, levels);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      EXPECT_NEAR(left[j], -right[levels.size() - 1 - j], 1e-10);
    }
  }
}

TEST(RankRule, OfThePaperIsLevelRank) {
  Rng rng(Seed{6});
  for (int trial = 0; trial < 200; ++trial) {
    const auto levels = random_levels(rng, 10);
    RankRule rule(Ranks::kPaper, levels);
    const std::size_t n = 1 + rng.below(100);
    const auto ranks = rule.ranks(n);
    ASSERT_EQ(ranks.size(), levels.size());
    for (std::size_t j = 0; j < ranks.size(); ++j) EXPECT_EQ(ranks[j], levels[j].rank(n));
  }
}

TEST(RankRule, CountsWholeWeightsExactly) {
  // Rows of weight 3 are 3 rows each only for the sum; their number stays what it was.
  const std::vector<Level> levels = {Level{0.1}, Level{0.5}, Level{0.9}};
  RankRule rule(Ranks::kExpected, levels);
  const auto once = rule.targets(9.0, 9.0, WeightType::kWhole);
  EXPECT_EQ(std::vector<double>(once.begin(), once.end()), (std::vector<double>{1, 5, 9}));
  const auto thrice = rule.targets(27.0, 9.0, WeightType::kWhole);
  EXPECT_EQ(std::vector<double>(thrice.begin(), thrice.end()), (std::vector<double>{2, 14, 26}));
}

/// Mean probability of a normal variable between the 5 % and 95 % quantiles of windows of 40 rows
/// with these weights.
double mean_coverage(Ranks kind, std::span<const double> weights, Seed seed) {
  constexpr int kDraws = 8'000;
  const std::vector<Level> levels = {Level{0.05}, Level{0.95}};
  RankRule rule(kind, levels);
  Rng rng(seed);
  WeightSums sums;
  double covered = 0.0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<std::pair<double, double>> rows;
    for (const double weight : weights) rows.emplace_back(rng.normal(), weight);
    std::sort(rows.begin(), rows.end());
    std::vector<double> sorted;
    for (const auto& [value, weight] : rows) sorted.push_back(weight);
    sum_weights(sorted, sums);
    const auto targets = rule.targets(sums, WeightType::kReal);
    std::vector<std::size_t> places(targets.size());
    weighted_places(sorted, sums, targets, places);
    std::vector<double> values;
    for (const std::size_t place : places) values.push_back(rows[place].first);
    std::vector<double> out(2);
    rule.answer(values, out);
    covered += (normal_cdf(out[1]) - normal_cdf(out[0])) / kDraws;
  }
  return covered;
}

TEST(RankRule, CoversWhatItSaysWhereWindowsAreSmall) {
  // The standard error is below 0.0012. Of 10 rows the paper's rule covers 9 / 11.
  const std::vector<double> ten(10, 1.0);
  EXPECT_NEAR(mean_coverage(Ranks::kPaper, ten, Seed{7}), 9.0 / 11.0, 0.006);
  EXPECT_NEAR(mean_coverage(Ranks::kExpected, ten, Seed{7}), 0.9, 0.012);
  std::vector<double> gaussian;  // an effective size of 10 in 40 rows
  for (int i = 0; i < 40; ++i) gaussian.push_back(std::exp(-0.5 * std::pow(i / 5.64, 2)));
  EXPECT_LT(mean_coverage(Ranks::kPaper, gaussian, Seed{8}), 0.86);
  EXPECT_NEAR(mean_coverage(Ranks::kExpected, gaussian, Seed{8}), 0.9, 0.015);
}

TEST(RankRule, IsKnownByItsName) {
  for (const Ranks ranks : {Ranks::kPaper, Ranks::kExpected}) {
    EXPECT_EQ(parse_ranks(ranks_name(ranks)), ranks);
  }
  EXPECT_THROW(parse_ranks("papper"), Error);
}

}  // namespace
}  // namespace tare
