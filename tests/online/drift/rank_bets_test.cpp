// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/rank_bets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "draws.h"
#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

RankPlace place_at(double below) { return {below, 1.0 - below}; }

TEST(RankBets, DensitiesIntegrateToOneAndWeightsSumToOne) {
  double weights = 0.0;
  for (const RankBet& bet : rank_bets()) {
    weights += bet.weight;
    EXPECT_GT(bet.weight, 0.0);
    // Over normal scores z, where the integrand is smooth: the sum over a fine grid is exact to
    // rounding. The widest bet has less than 1e-9 beyond 14.
    constexpr double kStep = 0.01;
    double integral = 0.0;
    for (double z = -14.0; z <= 14.0; z += kStep) {
      const RankPlace place = {normal_cdf(z), normal_cdf(-z)};
      integral += kStep * normal_pdf(z) * std::exp(log_bet_density(bet, place));
    }
    EXPECT_NEAR(integral, 1.0, 2e-9) << bet.shift << ", " << bet.scale;
  }
  EXPECT_NEAR(weights, 1.0, 1e-15);
}

TEST(RankBets, DensitiesAreThoseOfShiftedAndScaledScores) {
  // By their definition: the density of the changed law over that of the unchanged one.
  for (const RankBet& bet : rank_bets()) {
    for (double x = -4.0; x <= 4.0; x += 0.37) {
      double below = normal_cdf(x);
      double ratio = normal_pdf((x - bet.shift) / bet.scale) / bet.scale / normal_pdf(x);
      if (bet.law == BetLaw::kHeavy) {
        EXPECT_EQ(bet.shift, 0.0);
        const auto density = [](double t) { return std::pow(2.0 + t * t, -1.5); };
        below = 0.5 + x / (2.0 * std::sqrt(2.0 + x * x));
        ratio = density(x / bet.scale) / bet.scale / density(x);
      }
      EXPECT_NEAR(std::exp(log_bet_density(bet, place_at(below))) / ratio, 1.0, 1e-9);
    }
  }
}

TEST(RankBets, AgreesWithTheSumOverAllStartRowsAndBets) {
  Rng rng(Seed{6});
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    RankBets bets;
    const std::size_t rows = 1 + rng.below(120);
    std::vector<RankPlace> places;
    for (std::size_t row = 0; row < rows; ++row) {
      const double u = rng.uniform(1e-9, 1.0 - 1e-9);
      places.push_back(place_at(row > rows / 2 ? std::sqrt(u) : u));
      bets.step(places.back());
    }
    double wealth = share_not_yet_bet(rows);
    double best = -INFINITY;
    RankChange change;
    for (const RankBet& bet : rank_bets()) {
      for (std::size_t start = 0; start < rows; ++start) {
        double evidence = 0.0;
        for (std::size_t i = start; i < rows; ++i) evidence += log_bet_density(bet, places[i]);
        const double share = share_not_yet_bet(start) - share_not_yet_bet(start + 1);
        wealth += share * bet.weight * std::exp(evidence);
        if (evidence + std::log(bet.weight) > best + 1e-12) {
          best = evidence + std::log(bet.weight);
          change = {start, bet};
        }
      }
    }
    EXPECT_NEAR(bets.wealth() / wealth, 1.0, 1e-9);
    EXPECT_EQ(bets.likely_change().row, change.row);
    EXPECT_EQ(bets.likely_change().bet.shift, change.bet.shift);
    EXPECT_EQ(bets.likely_change().bet.scale, change.bet.scale);
  }
}

TEST(RankBets, ExpectedWealthAfterTheNextRowIsTheWealthNow) {
  // The martingale property, from states with and without a change: an integral over the place of
  // the next row. A mean over random streams would not do, as the variance is infinite.
  Rng rng(Seed{8});
  for (std::uint64_t draw = 0; draw < draws(25); ++draw) {
    RankBets bets;
    const std::size_t rows = rng.below(300);
    const double tilt = draw % 2 == 0 ? 1.0 : 1.3;
    for (std::size_t row = 0; row < rows; ++row) {
      bets.step(place_at(std::pow(rng.uniform(1e-12, 1.0 - 1e-12), tilt)));
    }
    constexpr double kStep = 0.02;
    double expected = 0.0;
    for (double z = -14.0; z <= 14.0; z += kStep) {
      RankBets next = bets;
      next.step({normal_cdf(z), normal_cdf(-z)});
      expected += kStep * normal_pdf(z) * next.wealth();
    }
    EXPECT_NEAR(expected / bets.wealth(), 1.0, 1e-8) << "after " << rows << " rows";
  }
}

TEST(RankBets, WhatIsBetAndWhatIsLeftIsAllThereIs) {
  EXPECT_EQ(share_not_yet_bet(0), 1.0);
  double last = 1.0;
  for (std::uint64_t row = 1; row < 1'000'000'000'000; row *= 3) {
    const double left = share_not_yet_bet(row);
    EXPECT_GT(left, 0.0);
    EXPECT_LT(left, last);
    last = left;
  }
}

}  // namespace
}  // namespace tare
