// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "calibrate/guarantee/loose/loose_guarantee.h"
#include "calibrate/guarantee/loose/loose_levels.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "draws.h"
#include "function_model.h"
#include "io/tensor_store.h"
#include "math/normal.h"
#include "rowwise_problem.h"
#include "tare/calibrate/description.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

/// Far too sure of itself: a normal distribution with a tenth of the spread, around 0.
std::unique_ptr<FunctionModel> narrow_model() {
  return std::make_unique<FunctionModel>(
      2, [](std::span<const double>, double tau) { return 0.1 * std::log(tau / (1.0 - tau)); });
}

LooseGuarantee loose_around(std::unique_ptr<FunctionModel> whole, std::size_t rows, Seed seed) {
  const CurvedProblem::Data held_out = CurvedProblem::draw(rows, seed);
  FitInput input{.x = held_out.x, .y = held_out.y};
  input.seed = seed;
  return {std::move(whole),
          std::make_unique<GuaranteedModel>(CurvedProblem::line_model(), input, Execution{})};
}

TEST(BackingLevel, HasTwiceTheMissesOfFewRowsInExactArithmetic) {
  struct Case {
    double tau, backing;
    Mass rows;
  };
  for (const Case& one : {Case{0.95, 0.9, 60}, Case{0.05, 0.1, 60}, Case{0.9, 0.8, 30},
                          Case{0.1, 0.2, 30}, Case{0.975, 0.95, 100}, Case{0.99, 0.98, 150}}) {
    const auto level = backing_level(Level(one.tau), one.rows, 1);
    ASSERT_TRUE(level) << one.tau;
    EXPECT_EQ(level->level.value(), one.backing) << one.tau;
    EXPECT_TRUE(level->kept) << one.tau;
  }
  // 0.9 of 10 rows, the new one among them, is the 9th: 9 rows are enough, and 8 are not.
  EXPECT_TRUE(backing_level(Level(0.95), 9, 1)->kept);
  EXPECT_FALSE(backing_level(Level(0.95), 8, 1)->kept);
  EXPECT_TRUE(backing_level(Level(0.05), 9, 1)->kept);
  EXPECT_FALSE(backing_level(Level(0.05), 8, 1)->kept);
}

/// A bound that a quarter of the rows and more may miss says hardly anything: there is none.
TEST(BackingLevel, EndsWhereAQuarterIsMissed) {
  for (const double upper : {0.875, 0.125}) EXPECT_TRUE(backing_level(Level(upper), 19, 1));
  for (const double inner : {0.874, 0.126, 0.5}) EXPECT_FALSE(backing_level(Level(inner), 19, 1));
  // Two standard errors of 15 % are 10 % with 51 rows, and more with 50.
  ASSERT_TRUE(backing_level(Level(0.85), 51, 1));
  EXPECT_EQ(backing_level(Level(0.85), 51, 1)->level.value(), 0.75);
  EXPECT_EQ(backing_level(Level(0.15), 51, 1)->level.value(), 0.25);
  EXPECT_FALSE(backing_level(Level(0.85), 50, 1));
  EXPECT_FALSE(backing_level(Level(0.15), 50, 1));
  for (const Mass all : {Mass{19}, Mass{2000}, Mass{1'000'000}}) {
    EXPECT_FALSE(backing_level(Level(0.75), all, 1)) << all;
    EXPECT_FALSE(backing_level(Level(0.25), all, 1)) << all;
  }
}

TEST(BackingLevel, ComesNearTheLevelWithManyRows) {
  const double error = std::sqrt(0.95 * 0.05 / 10'000.0);
  EXPECT_NEAR(backing_level(Level(0.95), 10'000, 1)->level.value(), 0.95 - kLooseErrors * error,
              1e-12);
  EXPECT_NEAR(backing_level(Level(0.05), 10'000, 1)->level.value(), 0.05 + kLooseErrors * error,
              1e-12);
}

/// Of the same side, never further out than the level, in order, and possible for these rows.
TEST(BackingLevel, IsOfTheSameSideAndKept) {
  Rng rng(Seed{71});
  for (std::size_t problem = 0; problem < draws(200); ++problem) {
    const auto all = static_cast<Mass>(1.0 + std::exp(12.0 * rng.uniform()));
    const auto fresh = static_cast<Mass>(1.0 + 0.2 * rng.uniform() * static_cast<double>(all));
    double before = 0.0;
    for (int k = 1; k < 1000; ++k) {
      const Level level(k / 1000.0);
      const auto backing = backing_level(level, all, fresh);
      if (!backing) continue;
      const double value = backing->level.value();
      EXPECT_TRUE(can_keep(backing->level, all, fresh)) << all << ' ' << fresh << ' ' << k;
      EXPECT_EQ(value >= 0.5, level.value() >= 0.5);
      if (backing->kept) {
        EXPECT_LE(std::abs(value - 0.5), std::abs(level.value() - 0.5));
      }
      if (level.value() >= 0.5 && before < 0.5) before = 0.5;
      EXPECT_GE(value, before) << all << ' ' << fresh << ' ' << k;
      before = value;
    }
  }
}

/// By brute force: each answer is the wider one of two models, asked by hand.
TEST(LooseGuarantee, IsTheWiderOneOfTwoModels) {
  const LooseGuarantee model = loose_around(narrow_model(), 80, Seed{5});
  const CurvedProblem::Data held_out = CurvedProblem::draw(80, Seed{5});
  FitInput input{.x = held_out.x, .y = held_out.y};
  input.seed = Seed{5};
  const GuaranteedModel proof(CurvedProblem::line_model(), input, Execution{});
  const CurvedProblem::Data rows = CurvedProblem::draw(50, Seed{6});
  std::vector<Level> levels;
  for (int k = 1; k < 200; ++k) levels.emplace_back(k / 200.0);
  const Matrix answer = model.predict({rows.x}, levels).quantiles;
  const Matrix kept = model.delivered({rows.x}, levels);
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const auto backing = backing_level(levels[j], 80, 1);
    const bool upper = levels[j].value() >= 0.5;
    for (std::size_t i = 0; i < answer.rows(); ++i) {
      const double tau = levels[j].value();
      double expected = 0.1 * std::log(tau / (1.0 - tau));
      if (backing) {
        const double bound =
            proof.predict({rows.x.view().middle_rows(i, 1)}, std::vector{backing->level})
                .quantiles(0, 0);
        expected = upper ? std::max(expected, bound) : std::min(expected, bound);
      }
      EXPECT_EQ(answer(i, j), expected) << i << ' ' << tau;
      EXPECT_TRUE(j == 0 || answer(i, j) >= answer(i, j - 1)) << i << ' ' << tau;
      EXPECT_TRUE(backing || kept(i, j) == (upper ? 0.0 : 1.0)) << i << ' ' << tau;
    }
  }
}

/// The promise, for a first model that is wrong everywhere: over draws of the held-out rows the
/// coverage is at least the proven one. The coverage of a fit is computed exactly at 200 rows, and
/// its standard deviation over fits is at most 0.06 with 40 rows and 0.12 with 9, so that the mean
/// of 500 fits has a standard error below 0.003 and 0.006. Three of these are allowed.
void expect_proven_coverage(std::size_t ranked, double standard_error) {
  const std::vector<Level> levels = {Level(0.05), Level(0.95)};
  const std::size_t fits = draws(500);
  double covered = 0.0;
  double above = 0.0;
  double proven = 0.0;
  for (std::size_t fit = 0; fit < fits; ++fit) {
    const LooseGuarantee model = loose_around(narrow_model(), ranked, Seed{1000 + fit});
    const CurvedProblem::Data rows = CurvedProblem::draw(200, Seed{50'000 + fit});
    const Matrix ends = model.predict({rows.x}, levels).quantiles;
    const Matrix kept = model.delivered({rows.x}, levels);
    for (std::size_t i = 0; i < ends.rows(); ++i) {
      const double share = 1.0 / static_cast<double>(ends.rows() * fits);
      const double x = rows.x(i, 0);
      const double upper = CurvedProblem::below(x, ends(i, 1));
      covered += share * (upper - CurvedProblem::below(x, ends(i, 0)));
      above += share * upper;
      proven += share * (kept(i, 1) - kept(i, 0));
    }
  }
  EXPECT_GE(proven, 0.8 - 1e-12);
  const double tolerance = 3.0 * standard_error * std::sqrt(500.0 / static_cast<double>(fits));
  EXPECT_GE(covered, proven - tolerance);
  EXPECT_GE(above, 0.9 - tolerance);
  // A first model that answers nothing of use leaves the bound of the second one, which is tight.
  EXPECT_LE(covered, proven + 0.03);
}

TEST(LooseGuarantee, KeepsWhatIsProvenAroundAModelThatIsWrong) {
  expect_proven_coverage(40, 0.003);
}

/// The fewest rows that a second model may rank: the outermost of nine are the 10 and 90 % ranks.
TEST(LooseGuarantee, KeepsWhatIsProvenWithNineRankedRows) { expect_proven_coverage(9, 0.006); }

TEST(LooseGuarantee, LeavesAModelAloneThatIsRight) {
  auto right = std::make_unique<FunctionModel>(2, [](std::span<const double> x, double tau) {
    return CurvedProblem::center(x[0]) + CurvedProblem::scale(x[0]) * normal_quantile(tau);
  });
  const CurvedProblem::Data held_out = CurvedProblem::draw(60, Seed{8});
  FitInput input{.x = held_out.x, .y = held_out.y};
  auto same = std::make_unique<FunctionModel>(2, [](std::span<const double> x, double tau) {
    return CurvedProblem::center(x[0]) + CurvedProblem::scale(x[0]) * normal_quantile(tau);
  });
  const FunctionModel* own = right.get();
  const LooseGuarantee model(
      std::move(right), std::make_unique<GuaranteedModel>(std::move(same), input, Execution{}));
  const CurvedProblem::Data rows = CurvedProblem::draw(100, Seed{9});
  const std::vector<Level> levels = {Level(0.05), Level(0.3), Level(0.5), Level(0.95)};
  const Matrix with = model.predict({rows.x}, levels).quantiles;
  const Matrix alone = own->predict({rows.x}, levels).quantiles;
  for (std::size_t i = 0; i < with.rows(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) EXPECT_EQ(with(i, j), alone(i, j));
  }
}

TEST(LooseGuarantee, SaysWhatIsProven) {
  const LooseGuarantee model = loose_around(narrow_model(), 59, Seed{5});
  Description description;
  model.describe(description);
  ASSERT_TRUE(description.guarantee);
  const GuaranteeDescription& guarantee = *description.guarantee;
  EXPECT_EQ(guarantee.form, GuaranteeForm::kLoose);
  EXPECT_EQ(guarantee.rows, 59U);
  EXPECT_FALSE(guarantee.cost);
  // 54 of 60 above, 6 of 60 below.
  EXPECT_DOUBLE_EQ(guarantee.at(0.9).proven.value(), 0.8);
  EXPECT_TRUE(guarantee.at(0.9).kept);
  EXPECT_FALSE(guarantee.at(0.99).kept);
  EXPECT_DOUBLE_EQ(guarantee.at(0.99).proven.value(), 58.0 / 60.0);
}

/// The default of `auto` for few rows: nothing is narrower than without, most rows are the same,
/// and a file answers with the same bits.
TEST(LooseGuarantee, IsTheDefaultForFewRows) {
  const Sample data = draw(find_problem("hetero_1"), 150, Seed{3});
  FitInput input{.x = data.x, .y = data.y};
  const Method& method = find_method("auto");
  const Params quick = Params::parse("budget=quick bands=off");
  Params without = quick;
  without.set("guarantee", "none");
  const auto loose = fit_method(method, input, quick);
  const auto none = fit_method(method, input, without);
  Description description;
  loose->describe(description);
  ASSERT_TRUE(description.guarantee);
  EXPECT_EQ(description.guarantee->form, GuaranteeForm::kLoose);
  EXPECT_EQ(description.guarantee->rows, 19U);
  EXPECT_GE(description.guarantee->at(0.9).proven.value(), 0.8);
  const std::vector<Level> levels = {Level(0.05), Level(0.5), Level(0.95)};
  const Matrix with = loose->predict({data.x}, levels).quantiles;
  const Matrix alone = none->predict({data.x}, levels).quantiles;
  std::size_t same = 0;
  for (std::size_t i = 0; i < with.rows(); ++i) {
    EXPECT_LE(with(i, 0), alone(i, 0));
    EXPECT_EQ(with(i, 1), alone(i, 1));
    EXPECT_GE(with(i, 2), alone(i, 2));
    same += std::size_t{with(i, 0) == alone(i, 0)} + std::size_t{with(i, 2) == alone(i, 2)};
  }
  EXPECT_GT(same, with.rows());
}

}  // namespace
}  // namespace tare
