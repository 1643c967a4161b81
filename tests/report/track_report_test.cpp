// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/track_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "report/track/thinned.h"

namespace tare {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

TEST(Thinned, PartsHoldEveryRowOnce) {
  for (const std::size_t count : {1U, 299U, 300U, 301U, 5'000U, 100'001U}) {
    std::vector<double> x(count), y(count);
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = static_cast<double>(i);
      y[i] = std::sin(static_cast<double>(i * i));
    }
    const Thinned t = thin(x, y);
    EXPECT_LE(t.x.size(), Thinned::kMostPoints);
    EXPECT_EQ(t.x.back(), x.back());
    for (std::size_t k = 0; k < t.x.size(); ++k) {
      const std::size_t first = k * t.rows;
      const std::size_t last = std::min(count, first + t.rows);
      EXPECT_EQ(t.x[k], x[last - 1]);
      std::size_t below = 0, above = 0;
      for (std::size_t i = first; i < last; ++i) {
        EXPECT_GE(y[i], t.low[k]);
        EXPECT_LE(y[i], t.high[k]);
        below += y[i] <= t.middle[k] ? 1U : 0U;
        above += y[i] >= t.middle[k] ? 1U : 0U;
      }
      EXPECT_GE(2 * below, last - first);
      EXPECT_GE(2 * above, last - first);
    }
    if (count <= Thinned::kMostPoints) {
      EXPECT_EQ(t.middle, y);
      EXPECT_EQ(thinned_words(t), "");
    }
  }
}

TEST(Thinned, WhatIsNotFiniteIsLeftOut) {
  const std::vector<double> x = {1, 2, 3};
  const Thinned t = thin(x, std::vector<double>{kEndless, 2.0, kUnknown});
  EXPECT_TRUE(std::isnan(t.middle[0]));
  EXPECT_EQ(t.middle[1], 2.0);
  EXPECT_TRUE(std::isnan(t.high[2]));
}

TEST(Thinned, MovingSharesAndQuantilesAreThoseOfEachStretch) {
  std::mt19937 draw(4);
  std::vector<double> values;
  std::vector<unsigned char> inside;
  for (int i = 0; i < 400; ++i) {
    values.push_back(static_cast<double>(draw() % 50) / 50.0);  // with ties
    inside.push_back(draw() % 4 == 0 ? 0 : 1);
  }
  for (const std::size_t width : {1U, 7U, 100U}) {
    const std::vector<double> shares = moving_share(inside, width);
    ASSERT_EQ(shares.size(), values.size() - width + 1);
    for (const double level : {0.05, 0.5, 0.95}) {
      const std::vector<double> quantiles = moving_quantile(values, width, level);
      ASSERT_EQ(quantiles.size(), shares.size());
      for (std::size_t i = 0; i < quantiles.size(); ++i) {
        std::vector<double> part(values.begin() + static_cast<std::ptrdiff_t>(i),
                                 values.begin() + static_cast<std::ptrdiff_t>(i + width));
        std::ranges::sort(part);
        std::size_t rank = 1;  // the smallest with rank / width >= level, in whole hundredths
        while (100 * rank < static_cast<std::size_t>(std::lround(100.0 * level)) * width) ++rank;
        EXPECT_EQ(quantiles[i], part[rank - 1]);
        double count = 0.0;
        for (std::size_t k = i; k < i + width; ++k) count += inside[k];
        EXPECT_DOUBLE_EQ(shares[i], count / static_cast<double>(width));
      }
    }
  }
  EXPECT_TRUE(moving_share(inside, 401).empty());
  EXPECT_TRUE(moving_quantile(values, 401, 0.5).empty());
}

TEST(Thinned, SpacedPlacesEndWithTheLast) {
  EXPECT_THAT(spaced(3, 10), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(spaced(7, 3), testing::ElementsAre(0, 3, 6));
  EXPECT_TRUE(spaced(0, 3).empty());
  for (std::size_t count = 1; count < 200; ++count) {
    const auto places = spaced(count, 40);
    EXPECT_LE(places.size(), 40U);
    EXPECT_EQ(places.back(), count - 1);
  }
}

/// Rows with an interval [-1, 1] and targets that are sometimes outside, missing, or infinite.
Tracked tracked_rows(std::size_t count) {
  Tracked t;
  t.names = {"lower_0.9", "upper_0.9"};
  t.values = Matrix(count, 2);
  t.intervals.push_back({.confidence = 0.9,
                         .lower = 0,
                         .upper = 1,
                         .coverage = 0.9,
                         .bound = 0.2,
                         .mean_width = 2.0,
                         .winkler = 3.0,
                         .worst_stretch = 0.8});
  t.intervals[0].chance = {.low = 0.84, .high = 0.95};
  for (std::size_t i = 0; i < count; ++i) {
    t.rows.push_back(i);
    t.values(i, 0) = -1.0;
    t.values(i, 1) = 1.0;
    t.predictions.push_back(0.0);
    t.targets.push_back(i % 10 == 3 ? 4.0 : 0.5);
    t.target_levels.push_back(i % 10 == 3 ? 0.99 : 0.6);
    t.drift_log_e.push_back(-0.1);
    t.intervals[0].bounds.push_back(0.2);
  }
  return t;
}

std::string page_with(const Tracked& tracked) {
  std::vector<std::size_t> lines(tracked.rows.size());
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = i + 2;
  TrackReport report;
  report.data_name = "<b>&.csv";
  report.target = "<i>";
  report.facts = {{"method", "<u>"}};
  return track_report_html(report, tracked, lines);
}

TEST(TrackReport, SaysWhatTheNumbersSay) {
  const Tracked tracked = tracked_rows(500);
  const std::string html = page_with(tracked);
  EXPECT_THAT(html, HasSubstr("within 20.0 percentage points of 90.0 %"));
  EXPECT_THAT(html, HasSubstr("84 to 95 %"));
  EXPECT_THAT(html, HasSubstr("no alarm of drift"));
  EXPECT_THAT(html, HasSubstr("0.0 % of the stretches are outside of the grey area; the lowest "
                              "share is 90 %"));
  for (const char* raw : {"<b>&.csv", "<i>", "<u>"}) EXPECT_THAT(html, Not(HasSubstr(raw)));
}

TEST(TrackReport, NamesTheAlarmAndItsCauses) {
  Tracked tracked = tracked_rows(300);
  tracked.alarms.push_back(
      {.row = 210, .change = 190, .scale = 1.5, .shift = 0.2, .causes = {"a<b from 1 to 2"}});
  const std::string html = page_with(tracked);
  EXPECT_THAT(html, HasSubstr("alarm at line 212; the change began at about line 192"));
  EXPECT_THAT(html, HasSubstr("mostly where a&lt;b from 1 to 2"));
}

TEST(TrackReport, HasNoNumberThatIsNone) {
  Tracked tracked = tracked_rows(400);
  for (const std::size_t i : {0U, 7U, 150U, 399U}) {
    tracked.targets[i] = tracked.target_levels[i] = tracked.drift_log_e[i] = kUnknown;
    tracked.intervals[0].bounds[i] = kUnknown;
  }
  for (const std::size_t i : {20U, 398U}) {
    tracked.values(i, 0) = -kEndless;
    tracked.values(i, 1) = kEndless;
  }
  tracked.intervals[0].mean_width = tracked.intervals[0].winkler = kEndless;
  const std::string html = page_with(tracked);
  EXPECT_THAT(html, HasSubstr("2 rows have an infinite interval"));
  for (const char* wrong : {">nan", "\"nan", " nan", ">inf<", " inf "}) {
    EXPECT_THAT(html, Not(HasSubstr(wrong)));
  }
}

TEST(TrackReport, FewRowsAndNoTargets) {
  EXPECT_THAT(page_with(tracked_rows(1)), HasSubstr("1 row with a target"));
  Tracked none = tracked_rows(5);
  for (double& y : none.targets) y = kUnknown;
  none.intervals[0].coverage = none.intervals[0].worst_stretch = kUnknown;
  const std::string html = page_with(none);
  EXPECT_THAT(html, HasSubstr("no target yet"));
  EXPECT_THAT(html, Not(HasSubstr("Evidence of drift")));
}

}  // namespace
}  // namespace tare
