// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/ranking.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tare {
namespace {

/// Results in which method m scores scores[m][repeat].
struct Contest {
  explicit Contest(const std::vector<std::vector<double>>& scores) {
    plan.name = "contest";
    plan.repeats = scores[0].size();
    plan.cases.resize(1);
    plan.cases[0].name = "case";
    const char* const names[] = {"nrc", "nrc_rf", "pure_kernel"};
    for (std::size_t m = 0; m < scores.size(); ++m) {
      plan.methods.push_back({names[m], {}});
      for (std::size_t r = 0; r < plan.repeats; ++r) {
        results[{"contest", "case", names[m], "", r, plan.seed.value}] = {
            {{"CheckScore", scores[m][r]}}, 0.0};
      }
    }
  }
  std::vector<RankedMethod> ranking() const { return full().methods; }
  Ranking full() const { return rank_methods(plan, plan.cases[0], results, "CheckScore"); }
  ExperimentPlan plan;
  Results results;
};

TEST(Ranking, SeesASmallButSteadyDifference) {
  // Scores differ much between repeats and little within one: pairing tells them apart.
  const Contest contest({{1.1, 5.2, 3.1, 9.1}, {1.0, 5.0, 3.0, 9.0}});
  const auto rows = contest.ranking();
  EXPECT_EQ(rows[0].method, "nrc_rf");
  EXPECT_EQ(rows[1].method, "nrc");
  EXPECT_NEAR(rows[1].behind, 0.125, 1e-12);
  EXPECT_FALSE(rows[1].tied);
  EXPECT_TRUE(rows[0].tied);
}

TEST(Ranking, DoesNotTellNoiseFromNoise) {
  const Contest contest({{1.0, 2.0, 1.0, 2.1}, {2.0, 1.0, 2.0, 1.0}});
  EXPECT_TRUE(contest.ranking()[1].tied);
}

TEST(Ranking, TheIntervalIsTheCorrectedOne) {
  const Contest contest({{1.0, 1.0, 1.0}, {2.0, 4.0, 6.0}});
  const RankedMethod row = contest.ranking()[1];
  // Gaps 1, 3, 5: mean 3, variance 4; (1/3 + 0.1/0.9) 4, and t with 2 degrees of freedom at 97.5 %
  // is 4.30265272991.
  const double reach = 4.30265272991 * std::sqrt((1.0 / 3.0 + 1.0 / 9.0) * 4.0);
  EXPECT_NEAR(row.behind_low, 3.0 - reach, 1e-9);
  EXPECT_NEAR(row.behind_high, 3.0 + reach, 1e-9);
}

TEST(Ranking, WithOneRepeatNothingIsToldApart) {
  EXPECT_TRUE(Contest({{1.0}, {5.0}}).ranking()[1].tied);
}

TEST(Ranking, PIsThatOfTheInterval) {
  const Contest contest({{1.0, 1.0, 1.0}, {2.0, 4.0, 6.0}});
  const RankedMethod row = contest.ranking()[1];
  // With 2 degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2).
  const double t = 3.0 / std::sqrt((1.0 / 3.0 + 1.0 / 9.0) * 4.0);
  EXPECT_NEAR(row.p, 1.0 - t / std::sqrt(2.0 + t * t), 1e-9);
  EXPECT_EQ(row.adjusted, row.p);  // one pair
  EXPECT_EQ(contest.full().comparisons, 1u);
  EXPECT_EQ(contest.ranking()[0].p, 1.0);
}

TEST(Ranking, IsCorrectedForAllPairsOfAllCases) {
  const Contest contest({{1.0, 1.1, 1.0, 1.1}, {2.0, 2.1, 2.1, 2.0}, {2.1, 2.0, 2.2, 2.0}});
  Ranking one = contest.full();
  ASSERT_EQ(one.comparisons, 3u);
  ASSERT_EQ(one.pair_p.size(), 3u);
  EXPECT_EQ(one.pair_p[0], one.methods[1].p);
  EXPECT_EQ(one.pair_p[1], one.methods[2].p);
  EXPECT_GT(one.pair_p[2], 0.2);  // the two that are behind cannot be told apart
  // The smallest of three counts threefold, the next twofold but not less than the one before.
  const double first = std::min(one.pair_p[0], one.pair_p[1]);
  const double second = std::max(one.pair_p[0], one.pair_p[1]);
  const double adjusted = std::min(one.methods[1].adjusted, one.methods[2].adjusted);
  EXPECT_NEAR(adjusted, 3.0 * first, 1e-15);
  EXPECT_NEAR(std::max(one.methods[1].adjusted, one.methods[2].adjusted),
              std::max(3.0 * first, 2.0 * second), 1e-15);
  EXPECT_TRUE(one.methods[1].survives());
  EXPECT_FALSE(one.methods[0].survives());
  Ranking two = contest.full();
  Ranking* const both[] = {&one, &two};
  correct_comparisons(both);
  EXPECT_EQ(one.comparisons, 6u);
  EXPECT_NEAR(std::min(one.methods[1].adjusted, one.methods[2].adjusted), 6.0 * first, 1e-15);
  EXPECT_EQ(one.methods[1].adjusted, two.methods[1].adjusted);
}

TEST(Ranking, WithOneRepeatNothingIsCompared) {
  const Ranking ranking = Contest({{1.0}, {5.0}}).full();
  EXPECT_EQ(ranking.comparisons, 0u);
  EXPECT_EQ(ranking.methods[1].adjusted, 1.0);
  EXPECT_FALSE(ranking.methods[1].survives());
}

TEST(Ranking, AnInfiniteScoreIsLastAndNotTied) {
  const Contest contest({{INFINITY, 1.0}, {2.0, 2.0}, {3.0, 3.0}});
  const auto rows = contest.ranking();
  EXPECT_EQ(rows[2].method, "nrc");
  EXPECT_FALSE(rows[2].tied);
}

}  // namespace
}  // namespace tare
