// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/drift_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "expect_error.h"
#include "math/proportion.h"
#include "online/drift/drift_streams.h"

namespace tare {
namespace {

/// Computes the evidence after each row from the whole history, with lists and sums.
std::vector<double> plain_log_e(const DriftOptions& options, const std::vector<double>& scores) {
  std::vector<double> list, log_e;
  std::vector<RankPlace> places;
  for (std::size_t row = 0; row < scores.size(); ++row) {
    Rng rng(split(options.seed, row));
    const double tie = (static_cast<double>(rng.next() >> 12) + 0.5) * 0x1.0p-52;
    const std::size_t removed = rng.below(list.size() + 1);
    double smaller = 0.0, equal = 1.0;
    for (const double other : list) {
      smaller += other < scores[row] ? 1.0 : 0.0;
      equal += other == scores[row] ? 1.0 : 0.0;
    }
    const double below = (smaller + tie * equal) / (static_cast<double>(list.size()) + 1.0);
    places.push_back({below, 1.0 - below});
    const bool full = list.size() == options.most_rows;
    list.push_back(scores[row]);
    std::ranges::sort(list);
    if (full) list.erase(list.begin() + static_cast<std::ptrdiff_t>(removed));

    double wealth = share_not_yet_bet(row + 1);
    for (const RankBet& bet : rank_bets()) {
      double evidence = 0.0;
      for (std::size_t start = row + 1; start-- > 0;) {
        evidence += log_bet_density(bet, places[start]);
        const double share = share_not_yet_bet(start) - share_not_yet_bet(start + 1);
        wealth += share * bet.weight * std::exp(evidence);
      }
    }
    log_e.push_back(std::log(wealth));
  }
  return log_e;
}

TEST(DriftWatch, AgreesWithTheWholeHistory) {
  Rng rng(Seed{2});
  for (const std::uint64_t distinct : {0u, 1u, 5u}) {
    const DriftOptions options = {.rate = 1e-9, .most_rows = 100, .seed = Seed{distinct}};
    DriftWatch watch(options);
    std::vector<double> scores, log_e;
    for (int row = 0; row < 260; ++row) {
      const double number = rng.normal() * (row < 200 ? 1.0 : 1.3);
      scores.push_back(distinct == 0 ? number
                                     : std::floor(number * static_cast<double>(distinct) / 4));
      watch.step(scores.back(), {});
      log_e.push_back(watch.log_e());
    }
    const std::vector<double> plain = plain_log_e(options, scores);
    for (std::size_t row = 0; row < plain.size(); ++row) EXPECT_NEAR(log_e[row], plain[row], 1e-9);
  }
}

TEST(DriftWatch, TheAlarmIsTheFirstRowWithEnoughEvidence) {
  const DriftOptions options = {.rate = 0.02, .seed = Seed{5}};
  DriftWatch watch(options);
  Rng rng(Seed{5});
  std::vector<double> scores;
  for (int row = 0; row < 300; ++row) {
    scores.push_back(rng.normal() + (row < 200 ? 0.0 : 1.5));
    watch.step(scores.back(), {});
  }
  const std::vector<double> plain = plain_log_e(options, scores);
  const auto first = std::ranges::find_if(plain, [](double e) { return e >= std::log(50.0); });
  ASSERT_NE(first, plain.end());
  ASSERT_TRUE(watch.alarm());
  EXPECT_EQ(watch.alarm()->row, static_cast<std::uint64_t>(first - plain.begin()));
  EXPECT_NEAR(watch.log_e(), *first, 1e-9);
  EXPECT_NEAR(static_cast<double>(watch.alarm()->change), 200.0, 10.0);
  EXPECT_GT(watch.alarm()->shift, 0.0);
}

/// The largest number of alarms that `streams` streams at this rate have in 999 of 1,000 cases.
std::uint64_t most_alarms(std::uint64_t streams, double rate) {
  return binomial_range(streams, rate, 0.998).high;
}

TEST(DriftWatch, SteadyStreamsAlarmAtMostAtTheirRate) {
  // Also with a small reference, which forgets 9 of 10 rows here.
  for (const DriftLaw& law : steady_laws()) {
    for (const std::size_t most_rows : {100u, 10000u}) {
      std::uint64_t alarms = 0;
      for (std::uint64_t stream = 0; stream < 100; ++stream) {
        const DriftOptions options = {.rate = 0.1, .most_rows = most_rows, .seed = Seed{stream}};
        alarms += watch_stream(options, {law.draw, law.draw, 0, 1000}, stream).has_value();
      }
      EXPECT_LE(alarms, most_alarms(100, 0.1)) << law.name;
    }
  }
}

TEST(DriftWatch, OneInAHundredOfLongSteadyStreamsAlarmsAtMost) {
  // 1,000 streams of 5,000 rows with the default rate of 1 %. The proven bound is on the
  // probability; these streams keep it in their number, too.
  for (const DriftLaw& law : steady_laws()) {
    std::uint64_t alarms = 0;
    for (std::uint64_t stream = 0; stream < 1000; ++stream) {
      const DriftOptions options = {.seed = Seed{stream}};
      alarms += watch_stream(options, {law.draw, law.draw, 0, 5000}, stream).has_value();
    }
    EXPECT_LE(alarms, 10u) << law.name;
  }
}

/// Rows from the change to the alarm: the median of 60 streams, none of which alarms before.
double median_delay(const DriftDraw& before, const DriftDraw& after, std::uint64_t change) {
  std::vector<double> delays;
  for (std::uint64_t stream = 0; stream < 60; ++stream) {
    const DriftOptions options = {.seed = Seed{stream}};
    const auto alarm = watch_stream(options, {before, after, change, change + 2000}, stream);
    if (alarm && alarm->row < change) continue;  // false, and counted by other tests
    delays.push_back(alarm ? static_cast<double>(alarm->row - change + 1) : INFINITY);
  }
  std::ranges::sort(delays);
  return delays[delays.size() / 2];
}

TEST(DriftWatch, FindsAChangeSoon) {
  // The limits are the medians of bench/drift_alarms, and a quarter more for chance.
  const auto changed = [](double shift, double scale) {
    return [=](Rng& rng) { return shift + scale * rng.normal(); };
  };
  const DriftDraw steady = changed(0.0, 1.0);
  EXPECT_LE(median_delay(steady, changed(0.0, 1.5), 1000), 85.0);  // required: 150
  EXPECT_LE(median_delay(steady, changed(0.0, 1.5), 300), 105.0);
  EXPECT_LE(median_delay(steady, changed(0.0, 0.67), 1000), 140.0);
  EXPECT_LE(median_delay(steady, changed(1.0, 1.0), 1000), 39.0);
  EXPECT_LE(median_delay(steady, changed(-1.0, 1.0), 1000), 39.0);
  EXPECT_LE(median_delay(steady, changed(0.5, 1.0), 1000), 158.0);
}

TEST(DriftWatch, FindsASlowDrift) {
  // The mean moves by one standard deviation in 2,000 rows, from the start on. The reference has
  // 500 rows, so it follows, but later than the scores.
  std::size_t found = 0;
  for (std::uint64_t stream = 0; stream < 20; ++stream) {
    DriftWatch watch({.most_rows = 500, .seed = Seed{stream}});
    Rng rng(split(Seed{71}, stream));
    for (int row = 0; row < 4000; ++row) watch.step(rng.normal() + row / 2000.0, {});
    found += std::size_t{watch.alarm().has_value()};
  }
  EXPECT_GE(found, 19u);
}

TEST(DriftWatch, RefusesNumbersThatAreNotFiniteAndStaysAsItWas) {
  DriftWatch watch({.features = 1});
  const std::vector<double> one = {1.0};
  const std::vector<double> nan = {std::numeric_limits<double>::quiet_NaN()};
  watch.step(1.0, one);
  const double before = watch.log_e();
  expect_error(ErrorCode::kBadData, "row 2", [&] { watch.step(nan[0], one); });
  expect_error(ErrorCode::kBadData, "feature 0", [&] { watch.step(1.0, nan); });
  expect_error(ErrorCode::kBadData, "inf", [&] { watch.step(INFINITY, one); });
  expect_error(ErrorCode::kShapeMismatch, "0 features", [&] { watch.step(1.0, {}); });
  EXPECT_EQ(watch.rows(), 1u);
  EXPECT_EQ(watch.log_e(), before);
}

TEST(DriftWatch, RefusesOptionsOutOfRange) {
  const auto refuse = [](const std::string& option, const DriftOptions& options) {
    expect_error(ErrorCode::kInvalidArgument, option, [&] { const DriftWatch watch(options); });
  };
  refuse("rate", {.rate = 0.0});
  refuse("rate", {.rate = 1e-13});
  refuse("rate", {.rate = 1.0});
  refuse("rate", {.rate = std::numeric_limits<double>::quiet_NaN()});
  refuse("most_rows", {.most_rows = 99});
  refuse("most_rows", {.most_rows = 1'000'001});
  refuse("features", {.features = 100'001});
  const DriftWatch watch({});
  expect_error(ErrorCode::kInvalidArgument, "level", [&] { watch.explain(1.0); });
}

TEST(DriftWatch, AShortStreamIsNoAlarmAndHasNoCause) {
  DriftWatch watch({});
  EXPECT_EQ(watch.log_e(), 0.0);
  EXPECT_FALSE(watch.alarm());
  EXPECT_TRUE(watch.explain().empty());
  watch.step(3.0, {});
  EXPECT_NEAR(watch.log_e(), 0.0, 0.02);
  EXPECT_FALSE(watch.alarm());
}

TEST(DriftWatch, ARestartForgetsAllRows) {
  DriftWatch watch({.seed = Seed{3}});
  Rng rng(Seed{3});
  while (!watch.alarm()) watch.step(rng.normal() + (watch.rows() < 300 ? 0.0 : 2.0), {});
  const std::uint64_t row = watch.rows();
  watch.restart();
  EXPECT_FALSE(watch.alarm());
  EXPECT_EQ(watch.log_e(), 0.0);
  EXPECT_EQ(watch.rows(), row);
  // Steady where it is now: no alarm. Then a second change.
  for (int i = 0; i < 1000; ++i) watch.step(rng.normal() + 2.0, {});
  EXPECT_FALSE(watch.alarm());
  for (int i = 0; i < 200; ++i) watch.step(3.0 * rng.normal() + 2.0, {});
  ASSERT_TRUE(watch.alarm());
  EXPECT_NEAR(static_cast<double>(watch.alarm()->change), static_cast<double>(row + 1000), 20.0);
  EXPECT_GT(watch.alarm()->scale, 1.2);
}

}  // namespace
}  // namespace tare
