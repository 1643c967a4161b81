// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/lags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "draws.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

std::vector<double> planted(std::size_t rows, Rng& rng,
                            const std::function<double(const std::vector<double>&)>& mean) {
  std::vector<double> series;
  for (std::size_t t = 0; t < rows; ++t) series.push_back(mean(series) + rng.normal());
  return series;
}

double back(const std::vector<double>& series, std::size_t lag) {
  return lag <= series.size() ? series[series.size() - lag] : 0.0;
}

double wave(std::size_t time, double period) {
  return std::sin(2.0 * std::numbers::pi * static_cast<double>(time) / period);
}

bool has(const std::vector<std::size_t>& lags, std::size_t lag) {
  return std::find(lags.begin(), lags.end(), lag) != lags.end();
}

TEST(ChooseLags, WhiteNoiseHasNoSeasonAndNoLagsButTheFirst) {
  // The penalty is that of chance over all lags: false lags and seasons are rare.
  const std::uint64_t count = draws(100);
  std::uint64_t seasons = 0;
  std::uint64_t lags = 0;
  for (std::uint64_t draw = 0; draw < count; ++draw) {
    Rng rng(split(Seed{321}, draw));
    const std::size_t rows = 60 + 400 * (draw % 5);
    const auto series = planted(rows, rng, [](const auto&) { return 0.0; });
    seasons += find_season(series).period != 0 ? 1U : 0U;
    const std::size_t delay = draw % 3;
    const std::vector<std::size_t> first = {delay + 1, delay + 2};
    lags += choose_lags(series, {}, delay) != first ? 1U : 0U;
  }
  // 2 in 100 would be usual with the penalty of BIC for the best of all lags; 1 in 10 is not.
  EXPECT_LE(lags, count / 10);
  // At 60 rows an autocorrelation of 20 pairs may reach 0.3 by chance; of more rows it does not.
  EXPECT_LE(seasons, count / 4);
}

TEST(ChooseLags, FindsTheLagsOfAnAutoregression) {
  for (std::uint64_t draw = 0; draw < draws(50); ++draw) {
    Rng rng(split(Seed{322}, draw));
    const auto series = planted(1'500, rng, [](const auto& past) {
      return 0.3 * back(past, 1) + 0.4 * back(past, 7) - 0.3 * back(past, 19);
    });
    const auto lags = choose_lags(series, {}, 0);
    ASSERT_TRUE(std::is_sorted(lags.begin(), lags.end()));
    ASSERT_TRUE(has(lags, 1) && has(lags, 7) && has(lags, 19)) << "draw " << draw;
    // A target that comes 3 rows late: no lag within the delay.
    const auto late = choose_lags(series, {}, 3);
    ASSERT_GT(late.front(), 3U);
    ASSERT_TRUE(has(late, 7)) << "draw " << draw;
  }
}

TEST(ChooseLags, OneWildValueHidesNothing) {
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    Rng rng(split(Seed{327}, draw));
    const double wild = draw % 2 == 0 ? 1e12 : -1e30;
    auto seasonal =
        planted(1'000, rng, [](const auto& past) { return 3.0 * wave(past.size(), 24.0); });
    seasonal[500] = wild;
    ASSERT_EQ(find_season(seasonal).period, 24U) << "draw " << draw;
    auto series = planted(1'000, rng, [](const auto& past) { return 0.5 * back(past, 7); });
    series[500] = wild;
    ASSERT_TRUE(has(choose_lags(series, {}, 0), 7)) << "draw " << draw;
  }
}

TEST(FindSeason, FindsTheSeasonOfTheMeanAndOfTheSize) {
  for (std::uint64_t draw = 0; draw < draws(50); ++draw) {
    Rng rng(split(Seed{323}, draw));
    const auto mean =
        planted(600, rng, [](const auto& past) { return 3.0 * wave(past.size(), 24.0); });
    ASSERT_EQ(find_season(mean).period, 24U) << "draw " << draw;
    ASSERT_TRUE(has(choose_lags(mean, find_season(mean), 0), 24));
    std::vector<double> size;
    for (std::size_t t = 0; t < 3'000; ++t) {
      size.push_back(rng.normal() * (t % 24 < 6 ? 5.0 : 0.5));
    }
    ASSERT_EQ(find_season(size).period, 24U) << "draw " << draw;
  }
}

TEST(FindSeason, FindsADayAndAWeek) {
  for (std::uint64_t draw = 0; draw < draws(20); ++draw) {
    Rng rng(split(Seed{324}, draw));
    const auto series = planted(4'000, rng, [](const auto& past) {
      const std::size_t t = past.size();
      const double weekend = t / 48 % 7 >= 5 ? 2.5 : 0.0;
      return 3.0 * wave(t, 48.0) + weekend;
    });
    const Season season = find_season(series);
    ASSERT_TRUE(season.period == 48 || season.period == 336) << season.period;
    ASSERT_LE((season.longest + 1) % 336, 2U) << season.longest;  // noise may move a peak by a row
    ASSERT_TRUE(has(choose_lags(series, season, 0), season.longest));
  }
}

TEST(FindSeason, ThePeriodOfASmoothSeasonInNoiseIsExact) {
  // The top of a wave is flat: one peak alone is off by a row or two in most draws, and with the
  // wrong period the phase is lost after a few seasons.
  const std::uint64_t count = draws(50);
  std::uint64_t exact = 0;
  for (std::uint64_t draw = 0; draw < count; ++draw) {
    Rng rng(split(Seed{326}, draw));
    const auto series =
        planted(2'000, rng, [](const auto& past) { return wave(past.size(), 48.0); });
    const std::size_t period = find_season(series).period;
    exact += period > 0 && period % 48 == 0 ? 1U : 0U;
  }
  EXPECT_GE(exact, count - count / 10);
}

TEST(ChooseLags, TakesAnySeries) {
  constexpr double kLarge = 1e30;  // the most that choose_structure gives
  for (const std::size_t rows : {0U, 1U, 2U, 40U, 43U, 59U, 60U, 61U, 300U}) {
    for (const std::size_t delay : {0U, 1U, 50U, 100'000U}) {
      for (const double value : {0.0, 1.0, 5e-324, kLarge, -kLarge}) {
        std::vector<double> series(rows, value);
        for (int wild = 0; wild < 2; ++wild) {
          if (wild == 1 && rows > 0) series[rows / 2] = kLarge;
          const Season season = find_season(series);
          const auto lags = choose_lags(series, season, delay);
          ASSERT_GE(lags.size(), 2U);
          ASSERT_GT(lags.front(), delay);
          ASSERT_EQ(std::adjacent_find(lags.begin(), lags.end(), std::greater_equal<>()),
                    lags.end());
        }
      }
    }
  }
  // A season longer than the rows, or within the delay, is no lag.
  Rng rng(Seed{325});
  const auto series = planted(200, rng, [](const auto&) { return 0.0; });
  EXPECT_FALSE(has(choose_lags(series, {5'000, 9'000}, 0), 5'000));
  EXPECT_GT(choose_lags(series, {24, 24}, 30).front(), 30U);
}

}  // namespace
}  // namespace tare
