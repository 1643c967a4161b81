// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/own_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "calibrate/guarantee/guarantee.h"
#include "draws.h"
#include "io/tensor_store.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// Scores of rows whose true level is the power of their level by the model: 1 is a model that is
/// right, 2 one whose upper quantiles are too low.
std::vector<RowScore> scores_of(std::size_t rows, double power, bool with_masses, Rng& rng) {
  std::vector<RowScore> scores;
  for (std::size_t i = 0; i < rows; ++i) {
    const CurvePlace at = place_of_level(guarantee_levels(), std::pow(rng.uniform(), 1.0 / power));
    const Mass mass = with_masses ? 1 + static_cast<Mass>(rng.uniform() * 1000.0) : 1;
    scores.push_back({.upper = at, .lower = at, .mass = mass});
  }
  return scores;
}

std::vector<CurvePlace> sorted_upper(std::span<const RowScore> scores) {
  std::vector<CurvePlace> sorted;
  for (const RowScore& score : scores) sorted.push_back(score.upper);
  std::ranges::sort(sorted);
  return sorted;
}

double level_of(const CurvePlace& place) {
  const auto knots = guarantee_levels();
  const double at = knots[place.knot()].value();
  if (place.share() == 0.0) return at;
  return at + place.share() * (knots[place.knot() + 1].value() - at);
}

/// What the proof rests on, and what a file of quantiles needs: for every level, model and weight.
TEST(OwnLevels, AreNeverInsideOfTheRanksAndNeverDecrease) {
  Rng rng(Seed{31});
  for (std::size_t problem = 0; problem < draws(200); ++problem) {
    const auto rows = static_cast<std::size_t>(1.0 + rng.uniform() * 300.0);
    const double power = std::exp(2.0 * rng.uniform() - 1.0);
    const GuaranteeRanks ranks(scores_of(rows, power, problem % 2 == 1, rng));
    CurvePlace before{-1.0, 0.0};
    for (std::size_t k = 1; k < 2000; ++k) {
      const Level level(static_cast<double>(k) / 2000.0);
      const CurvePlace ranked = ranks.place(level);
      const CurvePlace own =
          own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kOwn, level);
      if (level.value() >= 0.5) {
        EXPECT_GE(own, ranked) << rows << " rows, level " << level.value();
      } else {
        EXPECT_LE(own, ranked) << rows << " rows, level " << level.value();
      }
      EXPECT_GE(own, before) << rows << " rows, level " << level.value();
      before = own;
    }
  }
}

/// A slow account of the rule: the model's own level if it lies between two ranks, by counting.
TEST(OwnLevels, AreTheModelsOwnBetweenTwoRanks) {
  Rng rng(Seed{32});
  for (std::size_t problem = 0; problem < draws(100); ++problem) {
    const auto rows = static_cast<std::size_t>(50.0 + rng.uniform() * 500.0);
    const std::vector<RowScore> scores = scores_of(rows, std::exp(rng.uniform() - 0.5), false, rng);
    const std::vector<CurvePlace> sorted = sorted_upper(scores);
    const GuaranteeRanks ranks(scores);
    for (const double tau : {0.5, 0.65, 0.8, 0.9, 0.95}) {
      const double n = static_cast<double>(rows) + 1.0;
      const double error = std::sqrt(n * tau * (1.0 - tau));
      const auto low = static_cast<std::size_t>(Level(tau).rank(rows + 1));
      const auto high = static_cast<std::size_t>(std::ceil(n * tau + kOwnSlack * error));
      if (low > rows) continue;
      CurvePlace expected = std::max(place_of_level(guarantee_levels(), tau), sorted[low - 1]);
      if (high <= rows) expected = std::min(expected, std::max(sorted[low - 1], sorted[high - 1]));
      EXPECT_EQ(own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kOwn, Level(tau)),
                expected)
          << rows << " rows, level " << tau;
    }
  }
}

/// The mean coverage over draws of the held-out rows, exactly given each draw: of one new row from
/// the same distribution. At least the level for any model; and where the model is right, seldom
/// far below in a single draw, as ranks are.
TEST(OwnLevels, CoverAtLeastTheirLevelOnAverageForAnyModel) {
  constexpr std::size_t kRows = 100;
  const std::size_t repeats = draws(20'000);
  for (const double power : {1.0, 0.7, 1.5}) {
    Rng rng(Seed{33});
    double sum = 0.0;
    std::size_t low_own = 0;  // draws whose interval covers less than 88 %
    std::size_t low_ranked = 0;
    const auto [low, high] = interval_levels(0.9);
    for (std::size_t draw = 0; draw < repeats; ++draw) {
      const GuaranteeRanks ranks(scores_of(kRows, power, false, rng));
      const auto covered = [&](const CurvePlace& above, const CurvePlace& below) {
        return std::pow(level_of(above), power) - std::pow(level_of(below), power);
      };
      const double own =
          covered(own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kOwn, high),
                  own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kOwn, low));
      const double ranked = covered(ranks.place(high), ranks.place(low));
      sum += own;
      if (own < 0.88) ++low_own;
      if (ranked < 0.88) ++low_ranked;
    }
    // The coverage of a draw has a standard deviation of 0.03: four standard errors of the mean.
    const double tolerance = 4.0 * 0.03 / std::sqrt(static_cast<double>(repeats));
    const double mean = sum / static_cast<double>(repeats);
    EXPECT_GE(mean, 0.9 - tolerance) << power;
    EXPECT_LE(mean, 0.9 + 2.0 * kOwnSlack * std::sqrt(0.05 * 0.95 / kRows) + 2.0 / kRows) << power;
    if (power != 1.0) continue;
    // In 4,000 draws: some 30 and 900, with standard deviations of 6 and 27.
    EXPECT_LT(low_own, repeats / 50);
    EXPECT_GT(low_ranked, repeats / 5);
  }
}

/// Through the whole model: levels that the ranks do not keep go on from the outermost answer.
TEST(OwnLevels, OfAModelAreOutsideOfItsRanksAndComeBackFromAFile) {
  const Problem& problem = find_problem("hetero_1");
  const Sample data = draw(problem, 400, Seed{8});
  const Method& method = find_method("pure_kernel");
  const FitInput input{.x = data.x, .y = data.y};
  const auto own = fit_method(method, input, Params::parse("guarantee=split:0.5,own"));
  const auto ranked = fit_method(method, input, Params::parse("guarantee=split:0.5"));
  std::vector<Level> levels;
  for (const double tau : {0.0001, 0.01, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999, 0.99999}) {
    levels.emplace_back(tau);
  }
  const Prediction answer = own->predict({data.x}, levels);
  const Prediction by_rank = ranked->predict({data.x}, levels);
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(answer.quantiles.row(i)));
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double further = answer.quantiles(i, j) - by_rank.quantiles(i, j);
      EXPECT_GE(levels[j].value() >= 0.5 ? further : -further, 0.0) << levels[j].value();
    }
  }
  EXPECT_FALSE(std::ranges::equal(answer.quantiles.values(), by_rank.quantiles.values()));
  EXPECT_TRUE(std::ranges::equal(own->delivered({data.x}, levels).values(),
                                 ranked->delivered({data.x}, levels).values()));
  TensorStore store;
  own->save(TensorWriter(store));
  const auto loaded = GuaranteedModel::load(TensorReader(store), method.load);
  EXPECT_TRUE(std::ranges::equal(loaded->predict({data.x}, levels).quantiles.values(),
                                 answer.quantiles.values()));
}

/// What is proven rests on this: an answer reaches the rank of the level that own_delivered names,
/// counted here among the scores.
TEST(NearLevels, ReachTheRankThatIsProvenAndNeverDecrease) {
  Rng rng(Seed{34});
  for (std::size_t problem = 0; problem < draws(200); ++problem) {
    const auto rows = static_cast<std::size_t>(1.0 + rng.uniform() * 300.0);
    const double power = std::exp(4.0 * rng.uniform() - 2.0);
    const std::vector<RowScore> scores = scores_of(rows, power, false, rng);
    const GuaranteeRanks ranks(scores);
    const double all = static_cast<double>(rows) + 1.0;
    CurvePlace before{-1.0, 0.0};
    for (std::size_t k = 1; k < 1000; ++k) {
      const Level level(static_cast<double>(k) / 1000.0);
      const CurvePlace near =
          own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kNear, level);
      EXPECT_GE(near, before) << rows << " rows, level " << level.value();
      before = near;
      const double proven = own_delivered(ranks, SplitLevels::kNear, level);
      const bool upper = level.value() >= 0.5;
      const auto reached = static_cast<double>(std::ranges::count_if(
          scores, [&](const RowScore& s) { return upper ? s.upper <= near : s.lower < near; }));
      if (upper) {
        EXPECT_GE(reached, std::round(proven * all)) << rows << " rows, level " << level.value();
      } else {
        // The new row itself may be one of those below.
        EXPECT_LE(reached + 1.0, std::round(proven * all)) << rows << ' ' << level.value();
      }
      const double missed = upper ? 1.0 - level.value() : level.value();
      const double more = (upper ? 1.0 - proven : proven) - missed;
      const double error = std::sqrt(missed * (1.0 - missed) / static_cast<double>(rows));
      const double least = 1.0 / all;  // that a side misses, whatever the level
      EXPECT_LE(more, std::max(std::min(kNearErrors * error, missed), least - missed) + 1e-9);
    }
  }
}

/// A slow account of the rule.
TEST(NearLevels, AreTheModelsOwnWithinAStandardErrorOfTheRank) {
  Rng rng(Seed{35});
  for (std::size_t problem = 0; problem < draws(100); ++problem) {
    const auto rows = static_cast<std::size_t>(50.0 + rng.uniform() * 500.0);
    const std::vector<RowScore> scores = scores_of(rows, std::exp(rng.uniform() - 0.5), false, rng);
    const std::vector<CurvePlace> sorted = sorted_upper(scores);
    const GuaranteeRanks ranks(scores);
    for (const double tau : {0.5, 0.65, 0.8, 0.9, 0.95}) {
      const double n = static_cast<double>(rows) + 1.0;
      const double error = std::sqrt(tau * (1.0 - tau) / static_cast<double>(rows));
      const double nearer = 1.0 - (1.0 - tau) - std::min(1.0 - tau, kNearErrors * error);
      const auto low = static_cast<std::size_t>(std::ceil(n * nearer - 1e-9));
      const auto high = static_cast<std::size_t>(
          std::ceil(n * tau + kOwnSlack * std::sqrt(n * tau * (1.0 - tau))));
      if (Level(tau).rank(rows + 1) > rows) continue;
      CurvePlace expected = std::max(place_of_level(guarantee_levels(), tau), sorted[low - 1]);
      if (high <= rows) expected = std::min(expected, std::max(sorted[low - 1], sorted[high - 1]));
      EXPECT_EQ(own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kNear, Level(tau)),
                expected)
          << rows << " rows, level " << tau;
    }
  }
}

/// The mean coverage over draws of the held-out rows is at least what is proven, also for models
/// that are far too narrow, and nearly the level where the model is right.
TEST(NearLevels, CoverAtLeastWhatIsProvenForAnyModel) {
  constexpr std::size_t kRows = 100;
  const std::size_t repeats = draws(20'000);
  const auto [low, high] = interval_levels(0.9);
  for (const double power : {1.0, 0.5, 2.0}) {
    Rng rng(Seed{36});
    double sum = 0.0;
    double proven = 0.0;
    for (std::size_t draw = 0; draw < repeats; ++draw) {
      const GuaranteeRanks ranks(scores_of(kRows, power, false, rng));
      const auto at = [&](Level level) {
        return std::pow(
            level_of(own_or_ranked_place(ranks, guarantee_levels(), SplitLevels::kNear, level)),
            power);
      };
      sum += at(high) - at(low);
      proven = own_delivered(ranks, SplitLevels::kNear, high) -
               own_delivered(ranks, SplitLevels::kNear, low);
    }
    EXPECT_NEAR(proven, 0.86, 0.01);  // 0.9 - 2 x 0.0218, and whole ranks
    const double mean = sum / static_cast<double>(repeats);
    // The coverage of a draw has a standard deviation of 0.04: four standard errors of the mean.
    EXPECT_GE(mean, proven - 4.0 * 0.04 / std::sqrt(static_cast<double>(repeats))) << power;
    if (power == 1.0) {
      EXPECT_NEAR(mean, 0.9, 0.01);
    }
  }
}

TEST(NearLevels, OfAModelSayWhatIsProvenAndComeBackFromAFile) {
  const Problem& problem = find_problem("hetero_1");
  const Sample data = draw(problem, 400, Seed{8});
  const Method& method = find_method("pure_kernel");
  const FitInput input{.x = data.x, .y = data.y};
  const auto near = fit_method(method, input, Params::parse("guarantee=split:0.5,near"));
  const std::vector<Level> levels = {Level(0.001), Level(0.05), Level(0.5), Level(0.95)};
  const Prediction answer = near->predict({data.x}, levels);
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    EXPECT_TRUE(std::ranges::is_sorted(answer.quantiles.row(i)));
  }
  const Matrix kept = near->delivered({data.x}, levels);
  EXPECT_DOUBLE_EQ(kept(0, 0), 1.0 / 201.0);   // too few rows for the level
  EXPECT_DOUBLE_EQ(kept(0, 1), 13.0 / 201.0);  // 0.05 + 0.0154
  EXPECT_DOUBLE_EQ(kept(0, 3), 188.0 / 201.0);
  TensorStore store;
  near->save(TensorWriter(store));
  const auto loaded = GuaranteedModel::load(TensorReader(store), method.load);
  EXPECT_TRUE(std::ranges::equal(loaded->predict({data.x}, levels).quantiles.values(),
                                 answer.quantiles.values()));
  EXPECT_TRUE(std::ranges::equal(loaded->delivered({data.x}, levels).values(), kept.values()));
}

}  // namespace
}  // namespace tare
