// SPDX-License-Identifier: BSD-3-Clause
#include "online/coverage_keeper.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "draws.h"
#include "expect_error.h"
#include "online/keeper/adversaries.h"

namespace tare::online_testing {
namespace {

std::vector<Level> levels_at(const std::vector<double>& values) {
  std::vector<Level> levels;
  for (const double value : values) levels.emplace_back(value);
  return levels;
}

/// 1 to `most` levels: evenly spaced, random, or close together and near the ends.
std::vector<Level> random_levels(std::size_t most, Rng& rng) {
  const std::size_t count = 1 + rng.below(most);
  const std::uint64_t kind = rng.below(3);
  std::vector<double> values;
  for (std::size_t j = 0; j < count; ++j) {
    const double even = static_cast<double>(j + 1) / static_cast<double>(count + 1);
    if (kind == 0) values.push_back(even);
    if (kind == 1) values.push_back(rng.uniform(0.001, 0.999));
    if (kind == 2) values.push_back(even < 0.5 ? 1e-4 * even : 1.0 - 1e-4 * (1.0 - even));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return levels_at(values);
}

std::vector<Level> all_percents() {
  std::vector<double> values;
  for (int j = 1; j < 100; ++j) values.push_back(j / 100.0);
  return levels_at(values);
}

/// |share - level| is rounded twice, at numbers below 1.
constexpr double kShareRounding = 4.0 * std::numeric_limits<double>::epsilon();

void expect_bound(const CoverageKeeper& keeper, const std::vector<Level>& levels,
                  const std::string& what) {
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double away = std::abs(keeper.share(j) - levels[j].value());
    ASSERT_LE(away, keeper.bound(j) + kShareRounding)
        << what << ", row " << keeper.rows() << ", level " << levels[j].value();
  }
}

TEST(CoverageKeeper, TheBoundHoldsAfterEveryRowWhateverTheTargets) {
  const std::vector<Lateness> latenesses = {{0, 0}, {1, 0}, {7, 0}, {0, 30}};
  for (std::uint64_t draw = 0; draw < draws(40); ++draw) {
    Rng rng(split(Seed{101}, draw));
    const Lateness late = latenesses[draw % latenesses.size()];
    const std::vector<Level> levels = draw == 1 ? all_percents() : random_levels(6, rng);
    for (const Adversary& adversary : adversaries()) {
      play(adversary, levels, late, draw == 1 ? 200 : 400, rng,
           [&](const CoverageKeeper& keeper, const KeeperRow&, std::size_t) {
             expect_bound(keeper, levels, adversary.name);
           });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(CoverageKeeper, TheBoundFallsAsOneOverRowsWhileErrorsStayInRange) {
  // |target - base| is at most 3 spreads: reach is at most asinh(3) = 1.82, so the bound of the
  // middle level is (1.82 / 0.02 + 1) / rows.
  Rng rng(Seed{102});
  CoverageKeeper keeper(levels_at({0.05, 0.5, 0.95}));
  const std::vector<double> base = {0.0, 0.0, 0.0};
  std::vector<double> answers(3);
  for (std::size_t t = 0; t < 20'000; ++t) {
    keeper.answer(base, 1.0, answers);
    keeper.learn(base, 1.0, answers, rng.below(2) == 0 ? 3.0 : -3.0, 0);
  }
  EXPECT_LT(keeper.bound(1), 92.0 / 20'000.0);
  EXPECT_LT(keeper.bound(0), 3.0 * 92.0 / 20'000.0);
  EXPECT_LE(std::abs(keeper.share(0) - 0.05), keeper.bound(0));
}

TEST(CoverageKeeper, SharesAreTheCountsOfTargetsAtOrBelow) {
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    Rng rng(split(Seed{103}, draw));
    const std::vector<Level> levels = random_levels(9, rng);
    const Adversary adversary = adversaries()[draw % adversaries().size()];
    std::vector<std::size_t> below(levels.size());
    Rng same = rng;  // the targets again
    std::size_t rows = 0;
    const Adversary counting{"", [&](const KeeperRow& row, std::size_t t, Rng& r) {
                               const double target = adversary.target(row, t, r);
                               for (std::size_t j = 0; j < levels.size(); ++j)
                                 below[j] += target <= row.answers[j];
                               ++rows;
                               return target;
                             }};
    play(counting, levels, {2, 0}, 150, same,
         [&](const CoverageKeeper& keeper, const KeeperRow&, std::size_t) {
           ASSERT_EQ(keeper.rows(), rows);
           for (std::size_t j = 0; j < levels.size(); ++j) {
             ASSERT_EQ(keeper.share(j), static_cast<double>(below[j]) / static_cast<double>(rows));
           }
         });
  }
}

TEST(CoverageKeeper, AnswersAreTheBaseMovedByTheSharesSoFar) {
  // The identity of the header: theta is step * rows * (tau - share), and an answer is base +
  // spread sinh(theta) where it does not cross its neighbour nearer to the middle.
  Rng rng(Seed{104});
  const std::vector<Level> levels = levels_at({0.1, 0.4, 0.5, 0.8});
  play(adversaries()[4], levels, {0, 0}, 600, rng,
       [&](const CoverageKeeper& keeper, const KeeperRow& row, std::size_t) {
         std::vector<double> answers(levels.size());
         keeper.answer(row.base, row.spread, answers);
         std::vector<double> own;
         for (std::size_t j = 0; j < levels.size(); ++j) {
           const double theta = CoverageKeeper::kStep * static_cast<double>(keeper.rows()) *
                                (levels[j].value() - keeper.share(j));
           own.push_back(row.base[j] + row.spread * std::sinh(theta));
         }
         const std::vector<double> expected = {std::min({own[0], own[1], own[2]}),
                                               std::min(own[1], own[2]), own[2],
                                               std::max(own[2], own[3])};
         for (std::size_t j = 0; j < levels.size(); ++j) {
           ASSERT_NEAR(answers[j], expected[j], 1e-9 * (1.0 + std::abs(expected[j])));
         }
       });
}

TEST(CoverageKeeper, AnswersAscendAndAreFiniteForAnyBaseAndSpread) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const std::vector<double> sizes = {0.0, 5e-324, 1e-300, 1.0, 1e300, kMost};
  const std::vector<Level> levels = levels_at({0.01, 0.3, 0.5, 0.9, 0.99});
  for (std::uint64_t draw = 0; draw < draws(100); ++draw) {
    Rng rng(split(Seed{105}, draw));
    CoverageKeeper keeper(levels);
    for (std::size_t t = 0; t < 60; ++t) {
      const auto any = [&] { return (rng.below(2) == 0 ? 1.0 : -1.0) * sizes[rng.below(6)]; };
      std::vector<double> base(levels.size());
      for (double& q : base) q = any();
      std::sort(base.begin(), base.end());
      const double spread = sizes[1 + rng.below(5)];
      std::vector<double> answers(levels.size());
      keeper.answer(base, spread, answers);
      for (std::size_t j = 0; j < answers.size(); ++j) {
        ASSERT_TRUE(std::isfinite(answers[j]));
        if (j > 0) {
          ASSERT_LE(answers[j - 1], answers[j]);
        }
      }
      keeper.learn(base, spread, answers, any(), 0);
      expect_bound(keeper, levels, "ends of the numbers");
    }
  }
}

TEST(CoverageKeeper, TheBoundHoldsWhereAnswersAreRoundedToTheTarget) {
  // Targets at the base, a few numbers beside it, or at the lowest number, and spreads that are
  // small beside the distance between two numbers: an answer that should be below the target is
  // the target.
  const std::vector<Level> levels = levels_at({0.05, 0.5, 0.9});
  for (const double center : {0.0, 1.0, -1e6, 1e300, std::numeric_limits<double>::lowest()}) {
    for (const double spread : {1e-100, 1e-12, 1e-3}) {
      for (const int numbers : {-3, -1, 0, 1, 2}) {
        double target = center;
        for (int i = 0; i < std::abs(numbers); ++i) {
          target = std::nextafter(target, numbers < 0 ? -1e308 : 1e308);
        }
        CoverageKeeper keeper(levels);
        const std::vector<double> base(levels.size(), center);
        std::vector<double> answers(levels.size());
        for (std::size_t t = 0; t < 300; ++t) {
          keeper.answer(base, spread, answers);
          keeper.learn(base, spread, answers, target, 0);
          expect_bound(keeper, levels, "rounded");
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(CoverageKeeper, AStateGoesOnAndADamagedOneIsRefused) {
  Rng rng(Seed{106});
  const std::vector<Level> levels = levels_at({0.05, 0.95});
  TensorStore good;
  play(adversaries()[3], levels, {3, 0}, 50, rng,
       [&](const CoverageKeeper& keeper, const KeeperRow& row, std::size_t) {
         good = {};
         keeper.save(TensorWriter(good));
         CoverageKeeper loaded(levels);
         loaded.load(TensorReader(good));
         std::vector<double> a(2);
         std::vector<double> b(2);
         keeper.answer(row.base, row.spread, a);
         loaded.answer(row.base, row.spread, b);
         ASSERT_EQ(a, b);
         ASSERT_EQ(keeper.bound(0), loaded.bound(0));
       });
  const auto refuse = [&](const TensorStore& bad) {
    CoverageKeeper keeper(levels);
    expect_error(ErrorCode::kCorruptFile, "", [&] { keeper.load(TensorReader(bad)); });
  };
  for (const auto& [name, tensor] : good.tensors) {
    TensorStore bad = good;
    bad.tensors.erase(name);
    refuse(bad);
  }
  for (const std::vector<std::int64_t>& below :
       {std::vector<std::int64_t>{-1, 3}, {0, 1'000'000}, {1}}) {
    TensorStore bad = good;
    TensorWriter(bad).tensor("below", below);
    refuse(bad);
  }
  for (const double reach : {-1.0, std::numeric_limits<double>::infinity()}) {
    TensorStore bad = good;
    TensorWriter(bad).tensor("reach", std::vector<double>{reach});
    refuse(bad);
  }
  TensorStore bad = good;
  bad.values["rows"] = 1;  // fewer than those below
  refuse(bad);
}

}  // namespace
}  // namespace tare::online_testing
