// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/ranks/guarantee_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/guarantee/guarantee.h"
#include "expect_error.h"
#include "infinity.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// A level as a fraction, so that the oracle's ranks need no rounding.
struct Share {
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

std::vector<RowScore> scores_of(const TiedRows& data) {
  std::vector<RowScore> scores;
  for (std::size_t i = 0; i < data.y.size(); ++i)
    scores.push_back(score_row(data.quantiles[i], data.y[i]));
  return scores;
}

GuaranteeRanks ranks_of(const TiedRows& data) { return GuaranteeRanks(scores_of(data)); }

/// All places at which some row's scores lie, from the lowest on.
std::vector<CurvePlace> candidates_of(const TiedRows& data) {
  std::vector<CurvePlace> places;
  for (const RowScore& score : scores_of(data)) {
    places.push_back(score.upper);
    places.push_back(score.lower);
  }
  std::ranges::sort(places, [](const auto& a, const auto& b) { return a < b; });
  return places;
}

/// A place by trying every candidate from the inside out, and asking each row's curve: the first
/// place that enough rows keep.
CurvePlace upper_oracle(const TiedRows& data, Share tau) {
  const std::uint64_t needed = (tau.top * (data.y.size() + 1) + tau.bottom - 1) / tau.bottom;
  const std::vector<CurvePlace> candidates = candidates_of(data);
  for (const CurvePlace& place : candidates) {
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      if (data.y[i] <= value_at(data.quantiles[i], place)) ++kept;
    }
    if (kept >= needed) return place;
  }
  return candidates.back();
}

/// The highest place that fewer than floor((n+1) tau) rows lie strictly below.
CurvePlace lower_oracle(const TiedRows& data, Share tau) {
  const std::uint64_t allowed = tau.top * (data.y.size() + 1) / tau.bottom;
  const std::vector<CurvePlace> candidates = candidates_of(data);
  for (std::size_t k = candidates.size(); k-- > 0;) {
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < data.y.size(); ++i) {
      if (data.y[i] < value_at(data.quantiles[i], candidates[k])) ++lost;
    }
    if (lost < allowed) return candidates[k];
  }
  return candidates.front();
}

/// Whether a row keeps a bound is the same question to its target and to its score.
void expect_same_order(const std::vector<double>& quantiles, double y,
                       std::span<const CurvePlace> places) {
  const RowScore score = score_row(quantiles, y);
  ASSERT_GE(value_at(quantiles, score.upper), y);
  ASSERT_LE(value_at(quantiles, score.lower), y);
  for (const CurvePlace& place : places) {
    const double value = value_at(quantiles, place);
    if (score.upper <= place) {
      ASSERT_LE(y, value);
    }
    if (place <= score.lower) {
      ASSERT_GE(y, value);
    }
  }
}

/// At scales from 1e-3 to 1e12 away from 0, so that all kinds of rounding occur.
TEST(CurvePlaces, OrderTargetsAsTheirValues) {
  Rng rng(Seed{91});
  for (int trial = 0; trial < 3000; ++trial) {
    const double offset = trial % 4 == 0 ? 0.0 : std::pow(10.0, rng.uniform(-3.0, 12.0));
    const double scale = std::pow(10.0, rng.uniform(-6.0, 3.0));
    std::vector<double> quantiles(1 + rng.below(600));
    for (double& value : quantiles) value = offset + scale * rng.normal();
    std::ranges::sort(quantiles);
    std::vector<CurvePlace> places;
    const auto last = static_cast<double>(quantiles.size() - 1);
    for (int k = 0; k < 30; ++k) places.push_back({rng.uniform(0.0, last)});
    for (int k = 0; k < 3; ++k) {
      places.push_back({last, scale * rng.uniform()});
      places.push_back({0.0, -scale * rng.uniform()});
      places.push_back({static_cast<double>(rng.below(quantiles.size()))});
    }
    std::ranges::sort(places, [](const auto& a, const auto& b) { return a < b; });
    double before = -kInf;
    for (const CurvePlace& place : places) {
      const double value = value_at(quantiles, place);
      ASSERT_GE(value, before) << "values do not decrease with the place";
      before = value;
    }
    for (int k = 0; k < 20; ++k) {
      const bool at_place = k % 4 == 0;
      const double y = at_place ? value_at(quantiles, places[rng.below(places.size())])
                                : offset + 1.5 * scale * rng.normal();
      expect_same_order(quantiles, y, places);
    }
  }
}

/// Both scores of a target between two knots are one place, up to rounding.
TEST(CurvePlaces, AreAsCloseAsRoundingAllows) {
  Rng rng(Seed{92});
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> quantiles(571);
    for (double& value : quantiles) value = 3.0 + rng.normal();
    std::ranges::sort(quantiles);
    const RowScore score = score_row(quantiles, 3.0 + rng.normal());
    EXPECT_LE(score.lower, score.upper);
    EXPECT_LT(score.upper.at - score.lower.at, 1e-10);
    EXPECT_LT(std::abs(score.upper.beyond - score.lower.beyond), 1e-14);
  }
}

/// Models of few rows may have infinite quantiles, and their distances are no numbers.
TEST(CurvePlaces, OfInfiniteQuantilesAreInOrder) {
  const std::vector<std::vector<double>> curves = {{-kInf, 0.0, 1.0, kInf},
                                                   {-kInf, kInf},
                                                   {-kInf, -kInf, 0.0},
                                                   {0.0, kInf, kInf},
                                                   {-1e308, 1e308}};
  for (const std::vector<double>& quantiles : curves) {
    std::vector<CurvePlace> places;
    double before = -kInf;
    for (double at = 0.0; at <= static_cast<double>(quantiles.size() - 1); at += 0.125) {
      places.push_back({at});
      EXPECT_GE(value_at(quantiles, places.back()), before);
      before = value_at(quantiles, places.back());
    }
    for (const double y : {-1.7e308, -1.0, 0.0, 0.3, 1.0, 2.0, 1.7e308}) {
      expect_same_order(quantiles, y, places);
    }
  }
}

TEST(CurvePlaces, OfLevelsLieBetweenTheirKnots) {
  const std::vector<Level> knots = {Level(0.1), Level(0.2), Level(0.6)};
  EXPECT_EQ(place_of_level(knots, 0.05).at, 0.0);
  EXPECT_EQ(place_of_level(knots, 0.1).at, 0.0);
  EXPECT_EQ(place_of_level(knots, 0.2).at, 1.0);
  EXPECT_NEAR(place_of_level(knots, 0.3).at, 1.25, 1e-12);
  EXPECT_EQ(place_of_level(knots, 0.6).at, 2.0);
  EXPECT_EQ(place_of_level(knots, 0.9).at, 2.0);
}

TEST(GuaranteeRanks, AreThoseOfCountingEveryPlace) {
  Rng rng(Seed{5});
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t rows = 1 + rng.below(trial % 2 == 0 ? 8 : 60);
    const TiedRows data = tied_rows(rows, 1 + rng.below(12), rng);
    const GuaranteeRanks ranks = ranks_of(data);
    const CurvePlace middle = upper_oracle(data, {1, 2});
    for (std::uint64_t percent = 1; percent < 100; percent += 3) {
      const Share tau{percent, 100};
      if (!can_keep(tau.level(), rows, 1)) continue;
      const CurvePlace expected =
          percent >= 50 ? upper_oracle(data, tau) : std::min(lower_oracle(data, tau), middle);
      // Two places that rounding tells apart can have the same value.
      EXPECT_NEAR(ranks.place(tau.level()).at, expected.at, 1e-12)
          << rows << " rows, level " << percent << " %, trial " << trial;
      EXPECT_EQ(ranks.place(tau.level()).beyond, expected.beyond);
    }
  }
}

TEST(GuaranteeRanks, KeepALevelExactlyWhereRowsAreEnough) {
  const auto [low, high] = interval_levels(0.9);
  for (Mass n = 1; n <= 60; ++n) {
    EXPECT_EQ(can_keep(high, n, 1), n >= 19) << n;
    EXPECT_EQ(can_keep(low, n, 1), n >= 19) << n;
    EXPECT_TRUE(can_keep(Level(0.5), n, 1)) << n;
  }
  EXPECT_EQ(kRowsForNinety, 19U);
}

/// What is kept where the rows are too few is what the outermost score keeps.
TEST(GuaranteeRanks, DeliverWhatTheirRankSays) {
  Rng rng(Seed{9});
  const GuaranteeRanks ranks = ranks_of(tied_rows(30, 6, rng));
  EXPECT_EQ(ranks.delivered(Level(0.9)), 28.0 / 31.0);
  EXPECT_EQ(ranks.delivered(Level(0.1)), 3.0 / 31.0);
  EXPECT_EQ(ranks.delivered(Level(0.99)), 30.0 / 31.0);
  EXPECT_EQ(ranks.delivered(Level(0.01)), 1.0 / 31.0);
  EXPECT_EQ(ranks.place(Level(0.99)), ranks.upper().place.back());
}

/// Weights go into ranks as whole masses, so that equal ones of any size change nothing.
TEST(GuaranteeRanks, EqualWeightsAreNoWeights) {
  Rng rng(Seed{7});
  for (const double weight : {1.0, 0.1, 3e-300, 7e200}) {
    for (int trial = 0; trial < 40; ++trial) {
      const TiedRows data = tied_rows(1 + rng.below(80), 1 + rng.below(12), rng);
      std::vector<RowScore> scores = scores_of(data);
      const GuaranteeRanks plain(scores);
      const MassScale scale(std::vector<double>(scores.size(), weight));
      for (RowScore& score : scores) score.mass = scale.of(weight);
      const GuaranteeRanks weighted(scores);
      for (const Level& level : guarantee_levels()) {
        EXPECT_EQ(plain.place(level), weighted.place(level))
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
    const GuaranteeRanks ranks(scores);
    const GuaranteeRanks expected(repeated);
    for (const Level& level : metric_levels()) {
      EXPECT_EQ(ranks.place(level, 1), expected.place(level, 1));
    }
  }
}

/// Fewer steps may only widen, and by no more than is said.
TEST(GuaranteeRanks, ThinnedOnesWidenALittle) {
  Rng rng(Seed{10});
  for (const std::size_t rows : {40U, 700U, 10'000U}) {
    std::vector<RowScore> scores;
    for (std::size_t i = 0; i < rows; ++i) {
      const CurvePlace place{rng.uniform(0.0, 570.0)};
      scores.push_back({place, place, rows == 700U ? 1 + rng.below(5) : 1});
    }
    const GuaranteeRanks whole(scores);
    const GuaranteeRanks thin = whole.thinned();
    EXPECT_EQ(thin.mass(), whole.mass());
    EXPECT_EQ(thin.rows(), rows);
    EXPECT_EQ(thin.largest(), whole.largest());
    EXPECT_LE(thin.upper().size(), std::min<std::size_t>(rows, 650));
    EXPECT_LE(thin.lower().size(), std::min<std::size_t>(rows, 650));
    for (const Level& level : guarantee_levels()) {
      const bool upper = level.value() >= 0.5;
      const double alpha = upper ? 1.0 - level.value() : level.value();
      const auto all = static_cast<double>(whole.mass());
      const double wider = std::min(alpha / 48.0, 1.0 / 384.0) * all;
      Mass between = 0;  // of the rows that the thinned bound holds and the other does not
      for (const RowScore& score : scores) {
        if (upper && whole.place(level) < score.upper && score.upper <= thin.place(level))
          between += score.mass;
        if (!upper && thin.place(level) <= score.lower && score.lower < whole.place(level))
          between += score.mass;
      }
      if (upper) {
        EXPECT_LE(whole.place(level), thin.place(level));
      } else {
        EXPECT_GE(whole.place(level), thin.place(level));
      }
      EXPECT_LE(static_cast<double>(between), wider) << rows << " rows, level " << level.value();
    }
  }
}

TEST(GuaranteeRanks, ComeBackFromTheirParts) {
  Rng rng(Seed{6});
  const GuaranteeRanks ranks = ranks_of(tied_rows(50, 6, rng));
  const GuaranteeRanks::Parts parts{ranks.rows(), ranks.largest(), ranks.upper(), ranks.lower()};
  const GuaranteeRanks again = GuaranteeRanks::from_parts(parts, 6);
  for (const Level& level : metric_levels()) EXPECT_EQ(ranks.place(level), again.place(level));
  const auto expect_refused = [&](auto&& damage) {
    auto damaged = parts;
    damage(damaged);
    expect_error(ErrorCode::kCorruptFile, "guarantee",
                 [&] { GuaranteeRanks::from_parts(damaged, 6); });
  };
  expect_refused([](auto& damaged) { damaged.upper.up_to.back() += 1; });
  expect_refused([](auto& damaged) { damaged.lower.up_to.front() = 0; });
  expect_refused([](auto& damaged) { damaged.upper.place.back().at = 5.5; });
  expect_refused([](auto& damaged) { damaged.upper.place.front().at = -0.5; });
  expect_refused([](auto& damaged) { damaged.lower.place.front() = damaged.lower.place.back(); });
  expect_refused([](auto& damaged) { damaged.upper.place[25] = {2.0, 0.5}; });
  expect_refused([](auto& damaged) { damaged.upper.place[3].at = std::nan(""); });
  expect_refused([](auto& damaged) { damaged.upper.place.back().beyond = std::nan(""); });
  expect_refused([](auto& damaged) { damaged.rows = 51; });
  expect_refused([](auto& damaged) { damaged.largest = 0; });
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
    ASSERT_GE(value_at(quantiles, drawn.upper), y);
    ASSERT_LE(value_at(quantiles, drawn.lower), y);
    if (y > 0.0) {
      ASSERT_EQ(drawn.upper, whole.upper);
      ASSERT_EQ(drawn.lower, whole.lower);
    } else {
      ASSERT_EQ(drawn.upper.share() + drawn.lower.share(), 0.0) << "whole knots";
      ASSERT_GE(drawn.upper.at, drawn.lower.at);
      ASSERT_LE(drawn.upper.at, drawn.lower.at + 1.0);
    }
    scores.push_back(drawn);
  }
  const GuaranteeRanks ranks(scores);
  for (const double tau : {0.1, 0.3, 0.45, 0.5, 0.65, 0.9}) {
    EXPECT_NEAR(ranks.place(Level(tau)).at, place_of_level(knots, tau).at, 0.014 / 0.002);
  }
}

}  // namespace
}  // namespace tare
