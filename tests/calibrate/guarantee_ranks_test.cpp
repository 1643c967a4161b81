// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "calibrate/guarantee.h"
#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A level as a fraction, so that the oracle's ranks need no rounding.
struct Fraction {
  std::uint64_t top, bottom;
  Level level() const { return Level(static_cast<double>(top) / static_cast<double>(bottom)); }
};

/// Rows of few distinct values, so that targets often equal quantiles and quantiles each other.
struct TiedRows {
  std::vector<std::vector<double>> quantiles;
  std::vector<double> y;
};

TiedRows tied_rows(std::size_t rows, std::size_t knots, Rng& rng) {
  TiedRows data;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> q(knots);
    for (double& value : q) value = static_cast<double>(rng.below(2 * knots));
    std::ranges::sort(q);
    data.quantiles.push_back(q);
    data.y.push_back(static_cast<double>(rng.below(2 * knots + 8)) - 4.0);
  }
  return data;
}

/// A place as one number that orders all of them: knots count 1e6 each.
double order_of(KnotPlace place) { return 1e6 * static_cast<double>(place.knot) + place.beyond; }

/// A place, by trying every candidate from the inside out: the first that enough rows keep.
double upper_oracle(const TiedRows& data, Fraction tau) {
  const std::size_t knots = data.quantiles[0].size();
  const std::uint64_t needed = (tau.top * (data.y.size() + 1) + tau.bottom - 1) / tau.bottom;
  std::vector<KnotPlace> candidates;
  for (std::size_t k = 0; k < knots; ++k) candidates.push_back({k, 0.0});
  for (double step = 1.0; step < 100.0; step += 1.0) candidates.push_back({knots - 1, step});
  for (const KnotPlace& place : candidates) {
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      if (data.y[i] <= data.quantiles[i][place.knot] + place.beyond) ++kept;
    }
    if (kept >= needed) return order_of(place);
  }
  return kInf;
}

/// The highest place that fewer than floor((n+1) tau) rows lie strictly below.
double lower_oracle(const TiedRows& data, Fraction tau) {
  const std::size_t knots = data.quantiles[0].size();
  const std::uint64_t allowed = tau.top * (data.y.size() + 1) / tau.bottom;
  std::vector<KnotPlace> candidates;
  for (std::size_t k = knots; k-- > 0;) candidates.push_back({k, 0.0});
  for (double step = 1.0; step < 100.0; step += 1.0) candidates.push_back({0, -step});
  for (const KnotPlace& place : candidates) {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      if (data.y[i] < data.quantiles[i][place.knot] + place.beyond) ++lost;
    }
    if (lost < allowed) return order_of(place);
  }
  return -kInf;
}

std::vector<RowScore> scores_of(const TiedRows& data) {
  std::vector<RowScore> scores;
  for (std::size_t i = 0; i < data.y.size(); ++i)
    scores.push_back(score_row(data.quantiles[i], data.y[i]));
  return scores;
}

GuaranteeRanks ranks_of(const TiedRows& data) {
  return {scores_of(data), data.quantiles[0].size()};
}

TEST(GuaranteeRanks, AreThoseOfCountingEveryPlace) {
  Rng rng(Seed{5});
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t rows = 1 + rng.below(trial % 2 == 0 ? 8 : 60);
    const TiedRows data = tied_rows(rows, 1 + rng.below(12), rng);
    const GuaranteeRanks ranks = ranks_of(data);
    const double middle = upper_oracle(data, {1, 2});
    for (std::uint64_t percent = 1; percent < 100; percent += 3) {
      const Fraction tau{percent, 100};
      const double expected =
          percent >= 50 ? upper_oracle(data, tau) : std::min(lower_oracle(data, tau), middle);
      EXPECT_EQ(order_of(ranks.place(tau.level())), expected)
          << rows << " rows, level " << percent << " %, trial " << trial;
    }
  }
}

TEST(GuaranteeRanks, AreInfiniteExactlyWhereRowsAreTooFew) {
  std::vector<RowScore> scores;
  const auto [low, high] = interval_levels(0.9);
  for (std::int32_t n = 1; n <= 60; ++n) {
    scores.push_back({.upper = n % 7, .lower = n % 7 - 1, .beyond = n % 7 == 0 ? -1.0 : 0.0});
    const GuaranteeRanks ranks(scores, 8);
    EXPECT_EQ(std::isfinite(ranks.place(high).beyond), n >= 19) << n;
    EXPECT_EQ(std::isfinite(ranks.place(low).beyond), n >= 19) << n;
    EXPECT_TRUE(std::isfinite(ranks.place(Level(0.5)).beyond)) << n;
  }
  EXPECT_EQ(kRowsForNinety, 19U);
}

/// Weights go into ranks as whole masses, so that equal ones of any size change nothing.
TEST(GuaranteeRanks, EqualWeightsAreNoWeights) {
  Rng rng(Seed{7});
  for (const double weight : {1.0, 0.1, 3e-300, 7e200}) {
    for (int trial = 0; trial < 40; ++trial) {
      const TiedRows data = tied_rows(1 + rng.below(80), 1 + rng.below(12), rng);
      std::vector<RowScore> scores = scores_of(data);
      const GuaranteeRanks plain(scores, data.quantiles[0].size());
      const MassScale scale(std::vector<double>(scores.size(), weight));
      for (RowScore& score : scores) score.mass = scale.of(weight);
      const GuaranteeRanks weighted(scores, data.quantiles[0].size());
      for (const Level& level : guarantee_levels()) {
        EXPECT_EQ(order_of(plain.place(level)), order_of(weighted.place(level)))
            << weight << " each, level " << level.value();
      }
    }
  }
}

/// A row that counts 3 is three rows.
TEST(GuaranteeRanks, MassesAreRowsThatRepeat) {
  Rng rng(Seed{8});
  for (int trial = 0; trial < 200; ++trial) {
    const TiedRows data = tied_rows(1 + rng.below(20), 1 + rng.below(6), rng);
    std::vector<RowScore> scores = scores_of(data);
    std::vector<RowScore> repeated;
    for (RowScore& score : scores) {
      const RowScore single = score;
      score.mass = 1 + rng.below(4);
      repeated.insert(repeated.end(), score.mass, single);
    }
    const GuaranteeRanks ranks(scores, data.quantiles[0].size());
    const GuaranteeRanks expected(repeated, data.quantiles[0].size());
    for (const Level& level : metric_levels()) {
      EXPECT_EQ(order_of(ranks.place(level, 1)), order_of(expected.place(level)));
    }
  }
}

TEST(GuaranteeRanks, ComeBackFromTheirCounts) {
  Rng rng(Seed{6});
  const GuaranteeRanks ranks = ranks_of(tied_rows(50, 6, rng));
  const GuaranteeRanks again = GuaranteeRanks::from_counts(ranks.counts());
  for (const Level& level : metric_levels())
    EXPECT_EQ(order_of(ranks.place(level)), order_of(again.place(level)));
  auto damaged = ranks.counts();
  damaged.upper.back() += 1;
  expect_error(ErrorCode::kCorruptFile, "guarantee", [&] { GuaranteeRanks::from_counts(damaged); });
  damaged = ranks.counts();
  damaged.lower.front() = damaged.lower.back() + 1;
  expect_error(ErrorCode::kCorruptFile, "guarantee", [&] { GuaranteeRanks::from_counts(damaged); });
}

TEST(GuaranteeRanks, AMassIsRankedWithinItsJump) {
  // The law is right and has masses, so drawn scores are even: a share tau of the rows has a score
  // at most the knot of tau. 20,000 rows: four standard errors are 0.014.
  const std::vector<Level> knots(guarantee_levels().begin(), guarantee_levels().end());
  Rng rng(Seed{77});
  constexpr int kRows = 20'000;
  std::vector<RowScore> scores;
  std::vector<double> quantiles(knots.size());
  for (int i = 0; i < kRows; ++i) {
    const double zero = i % 2 == 0 ? 0.2 : 0.7;  // probability of 0; above, an even law
    const auto at = [&](double level) { return std::max(0.0, level - zero); };
    for (std::size_t j = 0; j < knots.size(); ++j) quantiles[j] = at(knots[j].value());
    const double y = at(rng.uniform());
    const RowScore whole = score_row(quantiles, y);
    RowScore drawn = whole;
    draw_within_mass(knots, rng, drawn);
    ASSERT_GE(drawn.upper, whole.upper);
    ASSERT_LE(drawn.lower, whole.lower);
    ASSERT_LE(drawn.lower, drawn.upper);
    ASSERT_GE(drawn.lower, drawn.upper - 1);
    if (y > 0.0) {
      ASSERT_EQ(drawn.upper, whole.upper);
      ASSERT_EQ(drawn.lower, whole.lower);
    }
    scores.push_back(drawn);
  }
  const GuaranteeRanks ranks(scores, knots.size());
  for (const double tau : {0.1, 0.3, 0.45, 0.5, 0.65, 0.9}) {
    EXPECT_NEAR(knots[ranks.place(Level(tau)).knot].value(), tau, 0.014 + 0.002);
  }
}

}  // namespace
}  // namespace tare
