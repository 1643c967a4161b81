// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/merge_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "calibrate/guarantee/guarantee.h"
#include "tare/base/rng.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

std::vector<double> some_curve(std::size_t knots, bool tied, double start, Rng& rng) {
  std::vector<double> q(knots);
  for (double& value : q) {
    value = tied ? static_cast<double>(rng.below(knots)) : start + rng.normal();
  }
  std::ranges::sort(q);
  return q;
}

std::vector<Level> even_levels(std::size_t count) {
  std::vector<Level> levels;
  for (std::size_t k = 0; k < count; ++k) {
    levels.emplace_back(static_cast<double>(k + 1) / static_cast<double>(count + 1));
  }
  return levels;
}

std::vector<double> pick(std::span<const double> curve, std::span<const Level> knots,
                         std::span<const Level> asked) {
  std::vector<double> values;
  for (const Level& level : asked) {
    const auto at = std::ranges::find(knots, level) - knots.begin();
    values.push_back(curve[static_cast<std::size_t>(at)]);
  }
  return values;
}

/// Whatever the windows are: an answer is that of all steps to the bit, or there is none.
TEST(MergeWindows, AnswerAsAllStepsDo) {
  Rng rng(Seed{41});
  int answered = 0;
  int too_narrow = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const std::size_t folds = 2 + rng.below(9);
    const std::size_t count = 3 + rng.below(60);
    const std::vector<Level> knots = even_levels(count);
    const bool tied = trial % 3 == 0;
    const std::uint64_t most = trial % 2 == 0 ? 1 : 6;
    std::vector<GuaranteeRanks> ranks;
    for (std::size_t f = 0; f < folds; ++f) {
      std::vector<RowScore> scores;
      const std::size_t rows = rng.below(40) + (f == 0 ? 1 : 0);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto own = some_curve(count, tied, 0.0, rng);
        const double y = tied ? static_cast<double>(rng.below(count + 4)) - 2.0 : rng.normal();
        scores.push_back(score_row(own, y));
        draw_within_mass(knots, rng, scores.back());
        scores.back().mass = 1 + rng.below(most);
      }
      ranks.emplace_back(scores);
    }
    const FoldRanks line(ranks);
    std::vector<std::size_t> every(count);
    for (std::size_t k = 0; k < count; ++k) every[k] = k;
    const std::vector<std::vector<std::size_t>> asked(folds, every);
    const FoldMerge merge(line, asked, knots);
    EXPECT_FALSE(merge.caps_at_median());

    std::vector<Level> levels;
    std::vector<MergeWindows::Target> targets;
    for (const double tau : {0.05, 0.2, 0.5, 0.8, 0.97}) {
      const Level level(tau);
      if (!line.keeps(level, 1)) continue;
      const bool upper = tau >= 0.5;
      levels.push_back(level);
      targets.push_back(
          {upper ? upper_target(level, line.mass(), 1) : lower_target(level, line.mass(), 1),
           upper});
    }
    if (levels.empty()) continue;
    std::vector<MergeWindows::Reach> reach = MergeWindows::usual_reach(line, knots, targets);
    if (trial % 4 == 1) {
      for (auto& [low, high] : reach) low = high = std::floor((low + high) / 2.0);
    } else if (trial % 4 == 2) {
      for (auto& [low, high] : reach) {
        low = 0.0;
        high = static_cast<double>(count);
      }
    }
    const MergeWindows windows(line, knots, targets, reach);
    for (int row = 0; row < 5; ++row) {
      std::vector<std::vector<double>> curves, few;
      for (std::size_t f = 0; f < folds; ++f) {
        curves.push_back(some_curve(count, tied, 0.3 * rng.normal(), rng));
        few.push_back(pick(curves.back(), knots, windows.levels(f)));
      }
      std::vector<double> expected(levels.size());
      merge.answer(std::vector<std::span<const double>>(curves.begin(), curves.end()), levels, 1,
                   expected);
      std::vector<double> answer(levels.size());
      std::vector<MergeWindows::Reach> seen(levels.size());
      MergeWindows::Scratch scratch;
      const bool found = windows.answer(
          std::vector<std::span<const double>>(few.begin(), few.end()), scratch, answer, seen);
      ++(found ? answered : too_narrow);
      EXPECT_TRUE(found || trial % 4 != 2) << "windows with all steps, trial " << trial;
      if (!found) continue;
      EXPECT_EQ(answer, expected) << "trial " << trial;
      for (const auto& [low, high] : seen) EXPECT_LE(low, high);
    }
  }
  EXPECT_GT(answered, 1000);
  EXPECT_GT(too_narrow, 300);
}

/// Up to eight levels come from windows, more from all steps.
TEST(MergeWindows, AModelAnswersFewLevelsAsItAnswersMany) {
  const Sample data = draw(find_problem("hetero_1"), 500, Seed{5});
  const Sample fresh = draw(find_problem("hetero_1"), 700, Seed{6});
  std::vector<Level> many = even_levels(19);
  many.front() = Level(0.025);
  for (const char* setting : {"guarantee=cross:10 bands=off regressor=ridge",
                              "guarantee=cross:3 bands=off regressor=ridge"}) {
    for (const char* name : {"nrc_boost", "nrc"}) {
      FitInput input{.x = data.x, .y = data.y};
      input.seed = Seed{12};
      const auto model = fit_method(find_method(name), input, Params::parse(setting));
      const Prediction all = model->predict({fresh.x}, many);
      const auto expect_columns = [&](const std::vector<std::size_t>& columns, std::size_t rows,
                                      std::size_t threads) {
        std::vector<Level> levels;
        for (const std::size_t j : columns) levels.push_back(many[j]);
        Execution how;
        how.threads = threads;
        const Prediction few = model->predict({fresh.x.view().middle_rows(0, rows)}, levels, how);
        ASSERT_EQ(few.window_n.size(), rows);
        for (std::size_t i = 0; i < rows; ++i) {
          EXPECT_EQ(few.window_n[i], all.window_n[i]);
          EXPECT_EQ(few.nearest[i], all.nearest[i]);
          for (std::size_t j = 0; j < columns.size(); ++j) {
            ASSERT_EQ(few.quantiles(i, j), all.quantiles(i, columns[j]))
                << name << ", row " << i << ", level " << levels[j].value();
          }
        }
      };
      expect_columns({0, 18}, 700, 1);
      expect_columns({0, 18}, 700, 2);
      expect_columns({0, 9, 18}, 150, 1);
      expect_columns({9}, 1, 1);
      expect_columns({1, 2, 3, 9, 10, 16}, 40, 2);
    }
  }
}

}  // namespace
}  // namespace tare
