// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/count_laws.h"
#include "evaluate/examination.h"
#include "evaluate/slices.h"
#include "evaluate/worst_regions.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

std::vector<Level> levels_at(std::initializer_list<double> taus) {
  std::vector<Level> levels;
  for (const double tau : taus) levels.emplace_back(tau);
  return levels;
}

void expect_jump(const TargetJump& jump, double low, double high) {
  EXPECT_NEAR(jump.low, low, 1e-15);
  EXPECT_NEAR(jump.high, high, 1e-15);
}

TEST(TargetJumps, ReachHalfWayToTheNextLevels) {
  const auto levels = levels_at({0.1, 0.3, 0.5, 0.6, 0.9});
  const Matrix q({1, 2, 2, 3, 4}, 1, 5);
  const auto of = [&](double y) { return target_jumps(std::vector<double>{y}, q, levels)[0]; };
  expect_jump(of(2.0), 0.2, 0.55);
  expect_jump(of(3.0), 0.55, 0.75);
  expect_jump(of(1.0), 0.05, 0.2);  // one level alone says little about an end
  expect_jump(of(4.0), 0.75, 0.95);
  EXPECT_TRUE(of(2.5).empty());
  EXPECT_TRUE(of(0.0).empty());
  EXPECT_TRUE(of(9.0).empty());
  const Matrix ends({1, 1, 3, 4, 4}, 1, 5);
  expect_jump(target_jumps(std::vector<double>{1.0}, ends, levels)[0], 0.0, 0.4);
  expect_jump(target_jumps(std::vector<double>{4.0}, ends, levels)[0], 0.55, 1.0);
  const Matrix same(1, 5, 7.0);
  expect_jump(target_jumps(std::vector<double>{7.0}, same, levels)[0], 0.0, 1.0);
}

TEST(TargetJumps, TheOrderOfTheLevelsDoesNotMatter) {
  const Matrix q({2, 4, 1, 3, 2}, 1, 5);
  const auto levels = levels_at({0.5, 0.9, 0.1, 0.6, 0.3});
  expect_jump(target_jumps(std::vector<double>{2.0}, q, levels)[0], 0.2, 0.55);
}

TEST(TargetJump, SharesAndIntervals) {
  const TargetJump jump{0.2, 0.6};
  EXPECT_EQ(jump.share(0.1), 0.0);
  EXPECT_DOUBLE_EQ(jump.share(0.3), 0.25);
  EXPECT_EQ(jump.share(0.7), 1.0);
  EXPECT_EQ(share_below(1.0, 2.0, 0.3, jump), 1.0);
  EXPECT_EQ(share_below(3.0, 2.0, 0.3, jump), 0.0);
  EXPECT_DOUBLE_EQ(share_below(2.0, 2.0, 0.3, jump), 0.25);
  EXPECT_EQ(share_below(2.0, 2.0, 0.3, {}), 1.0);
  // Of [2, 5] at 0.3 and 0.9, and of the point [2, 2] at 0.3 and 0.5.
  EXPECT_DOUBLE_EQ(share_inside(2.0, 2.0, 5.0, 0.3, 0.9, jump), 0.75);
  EXPECT_DOUBLE_EQ(share_inside(2.0, 2.0, 2.0, 0.3, 0.5, jump), 0.5);
  EXPECT_EQ(share_inside(2.0, 2.0, 5.0, 0.3, 0.9, {}), 1.0);  // a closed end
  EXPECT_EQ(share_inside(5.0, 2.0, 5.0, 0.3, 0.9, {}), 1.0);
  EXPECT_EQ(share_inside(6.0, 2.0, 5.0, 0.3, 0.9, {}), 0.0);
  EXPECT_EQ(share_inside(1.0, 2.0, 5.0, 0.3, 0.9, {}), 0.0);
  EXPECT_EQ(share_inside(3.0, 5.0, 2.0, 0.3, 0.9, {}), 0.0);  // crossed
}

/// All that the levels of the scorecard say about rows.
struct Seen {
  std::vector<Level> levels = metric_levels();
  Matrix all;  // at the scorecard's levels, which begin with these
  MatrixView q;
  std::vector<TargetJump> jumps;

  Seen(const QuantileModel& model, const JumpRows& rows)
      : all(model.predict({rows.x}, Scorecard::levels()).quantiles),
        q(all.view().data(), all.rows(), levels.size(), all.cols()),
        jumps(target_jumps(rows.y, all, Scorecard::levels())) {}
};

/// The oracle shares no code with the metrics: it draws places in the true jumps.
TEST(ObservedLevels, AreTheMeanOfRandomisedTransforms) {
  for (const JumpLaw& law : jump_laws()) {
    constexpr std::size_t kRows = 1000, kDraws = 100;
    const JumpRows rows = draw_rows_of(law, kRows, Seed{5});
    const Seen seen(JumpModel(law), rows);
    std::vector<double> mean(seen.levels.size(), 0.0);
    Rng rng(Seed{6});
    for (std::size_t draw = 0; draw < kDraws; ++draw) {
      for (std::size_t i = 0; i < kRows; ++i) {
        const double low = law.below(rows.x(i, 0), rows.y[i]);
        const double place = rng.uniform(low, law.cdf(rows.x(i, 0), rows.y[i]));
        for (std::size_t j = 0; j < mean.size(); ++j) {
          mean[j] += place <= seen.levels[j].value() ? 1.0 / (kRows * kDraws) : 0.0;
        }
      }
    }
    const auto split = observed_levels(rows.y, seen.q, seen.levels, seen.jumps);
    // Four standard errors of 100,000 draws are 0.0063; the levels show jumps to about 0.0025.
    for (std::size_t j = 0; j < mean.size(); ++j) {
      EXPECT_NEAR(split[j], mean[j], 0.008) << law.name << " at " << seen.levels[j].value();
    }
  }
}

struct MeanAndError {
  double mean = 0.0, error = 0.0;
};
MeanAndError summarise_draws(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / (count - 1.0) / count)};
}

// Eight means are compared with their floor: 3 standard errors fail one such test in 50 by chance.
TEST(Ties, APerfectForecasterOfCountsStandsAtTheFloor) {
  for (const JumpLaw& law : jump_laws()) {
    for (const std::size_t rows : {1'000u, 10'000u}) {
      std::vector<double> excess, scored;
      for (std::uint64_t draw = 0; draw < (rows == 1'000 ? 40u : 8u); ++draw) {
        const JumpRows drawn = draw_rows_of(law, rows, split(Seed{17}, draw));
        const Seen seen(JumpModel(law), drawn);
        const double floor = split_mace_floor(drawn.y, seen.q, seen.levels, seen.jumps);
        EXPECT_LE(floor, mace_floor(rows, seen.levels));
        scored.push_back(mace(drawn.y, seen.q, seen.levels, seen.jumps));
        excess.push_back(scored.back() - floor);
        EXPECT_GT(mace_counted(drawn.y, seen.q, seen.levels), 5.0 * floor) << law.name;
      }
      const MeanAndError mean = summarise_draws(excess);
      EXPECT_NEAR(mean.mean, 0.0, 3.0 * mean.error)
          << law.name << ", " << rows << " rows: MACE " << summarise_draws(scored).mean;
    }
  }
}

TEST(Ties, TheFloorOfAgceIsThatOfAPerfectForecaster) {
  for (const JumpLaw& law : jump_laws()) {
    std::vector<double> scored, floors;
    for (std::uint64_t draw = 0; draw < 60; ++draw) {
      const JumpRows drawn = draw_rows_of(law, 500, split(Seed{23}, draw));
      const Seen seen(JumpModel(law), drawn);
      scored.push_back(agce(drawn.y, seen.q, seen.levels, split(Seed{24}, draw), seen.jumps));
      if (draw < 3) {
        floors.push_back(
            split_agce_floor(drawn.y, seen.q, seen.levels, split(Seed{25}, draw), seen.jumps));
      }
    }
    const MeanAndError mean = summarise_draws(scored);
    const double floor = summarise_draws(floors).mean;
    EXPECT_NEAR(mean.mean, floor, 3.0 * mean.error + 0.03 * floor) << law.name;
  }
}

TEST(Ties, AWrongForecasterOfCountsIsSeen) {
  const JumpLaw law = poisson_law(0.3, 6.0);
  const JumpRows drawn = draw_rows_of(law, 1'000, Seed{3});
  const Seen seen(JumpModel(law, 1.5), drawn);
  EXPECT_GT(mace(drawn.y, seen.q, seen.levels, seen.jumps),
            5.0 * split_mace_floor(drawn.y, seen.q, seen.levels, seen.jumps));
}

TEST(Ties, CoverageAndTransformOfAPerfectForecasterAreRight) {
  for (const JumpLaw& law : jump_laws()) {
    const JumpRows drawn = draw_rows_of(law, 10'000, Seed{31});
    Scorecard card;
    card.add(JumpModel(law), {drawn.x}, drawn.y);
    const Scores scores = card.finish(Seed{1});
    // Four standard errors of a binomial share: shares vary less.
    EXPECT_NEAR(scores.at("coverage_90"), 0.9, 4.0 * std::sqrt(0.09 / 1e4)) << law.name;
    EXPECT_GT(scores.at("coverage_90_counted"), 0.92) << law.name;
    EXPECT_GT(scores.at("mace_counted"), 5.0 * scores.at("mace")) << law.name;
    EXPECT_GT(scores.at("agce_counted"), scores.at("agce")) << law.name;
    double sum = 0.0;
    for (const double share : scores.pit) {
      EXPECT_NEAR(share, 0.05, 4.0 * std::sqrt(0.05 * 0.95 / 1e4) + 0.001) << law.name;
      sum += share;
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(Ties, WithoutAnyTheFloorsAreThoseOfContinuousTargets) {
  const auto levels = metric_levels();
  Matrix q(80, levels.size());
  std::vector<double> y;
  Rng rng(Seed{2});
  for (std::size_t i = 0; i < 80; ++i) {
    y.push_back(rng.uniform());
    for (std::size_t j = 0; j < levels.size(); ++j) q(i, j) = levels[j].value();
  }
  const auto jumps = target_jumps(y, q, levels);
  EXPECT_EQ(split_mace_floor(y, q, levels, jumps), mace_floor(80, levels));
  EXPECT_EQ(split_agce_floor(y, q, levels, Seed{3}, jumps), agce_floor(80, levels, Seed{3}));
}

TEST(Ties, AConstantTargetIsPerfect) {
  const std::vector<double> y(30, 4.0);
  const Matrix x(30, 1, 1.0);
  const JumpLaw constant{"constant", 0.0, 1.0, {}, {}, [](double, double) { return 4.0; }};
  Scorecard card;
  card.add(JumpModel(constant), {x}, y);
  const Scores scores = card.finish(Seed{1});
  EXPECT_NEAR(scores.at("mace"), 0.0, 1e-15);
  EXPECT_NEAR(scores.at("agce"), 0.0, 1e-15);
  EXPECT_NEAR(scores.at("mace_floor"), 0.0, 1e-9);
  EXPECT_NEAR(scores.at("agce_floor"), 0.0, 1e-9);
  EXPECT_NEAR(scores.at("coverage_90"), 0.9, 1e-12);
  EXPECT_EQ(scores.at("coverage_90_counted"), 1.0);
}

TEST(Ties, RaiseNoFalseAlarmsInRegionsAndSlices) {
  std::size_t alarms = 0, off = 0, bars = 0;
  constexpr std::size_t kDraws = 60;
  for (const JumpLaw& law : jump_laws()) {
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const JumpRows drawn = draw_rows_of(law, 400, split(Seed{41}, draw));
      Examination exam;
      exam.add(JumpModel(law), {drawn.x}, drawn.y);
      ReportColumn column;
      column.name = "x";
      for (std::size_t i = 0; i < 400; ++i) column.numbers.push_back(drawn.x(i, 0));
      alarms += std::size_t{
          find_worst_regions(std::span<const ReportColumn>(&column, 1), exam.outcomes()).found > 0};
      for (const Slice& slice : tally_slices(cut_column(column), exam.outcomes())) {
        ++bars;
        off += std::size_t{covers_too_little(slice) || covers_too_much(slice)};
      }
    }
  }
  const double draws = 4.0 * kDraws;
  EXPECT_LE(static_cast<double>(alarms), 0.05 * draws + 3.0 * std::sqrt(0.05 * draws));
  EXPECT_LE(static_cast<double>(off), 0.05 * static_cast<double>(bars)) << off << " of " << bars;
}

TEST(Ties, RegionsStillFindWhereCountsAreWrong) {
  const JumpLaw law = poisson_law(0.3, 6.0);
  const JumpRows drawn = draw_rows_of(law, 1'000, Seed{43});
  Examination exam;
  exam.add(JumpModel(law, 1.4), {drawn.x}, drawn.y);
  const RegionSearch search = find_worst_regions({}, exam.outcomes());
  EXPECT_GT(search.found, 0u);
}

}  // namespace
}  // namespace tare
