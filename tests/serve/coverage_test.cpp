// SPDX-License-Identifier: BSD-3-Clause
#include "serve/monitor/coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "tare/base/rng.h"

namespace tare::serve {
namespace {

/// P(B <= k), summed from the definition.
double at_most(std::size_t n, double p, std::size_t k) {
  double sum = 0.0;
  double log_choose = 0.0;
  for (std::size_t i = 0; i <= k; ++i) {
    if (i > 0) log_choose += std::log(static_cast<double>(n - i + 1) / static_cast<double>(i));
    sum += std::exp(log_choose + static_cast<double>(i) * std::log(p) +
                    static_cast<double>(n - i) * std::log1p(-p));
  }
  return sum;
}

TEST(CoverageBand, IsTheWidestThatIsNotTooRareByTheDefinition) {
  for (const std::size_t n : {1UL, 2UL, 10UL, 57UL, 200UL, 1000UL}) {
    for (const double p : {0.5, 0.8, 0.9, 0.99}) {
      const CoverageBand band = coverage_band(n, p);
      const auto count = static_cast<double>(n);
      const auto low = static_cast<std::size_t>(std::lround(band.low * count));
      const auto high = static_cast<std::size_t>(std::lround(band.high * count));
      EXPECT_GT(at_most(n, p, low), kCoverageTail);
      if (low > 0) {
        EXPECT_LE(at_most(n, p, low - 1), kCoverageTail) << n << " " << p;
      }
      EXPECT_GT(1.0 - (high > 0 ? at_most(n, p, high - 1) : 0.0), kCoverageTail * 0.999);
      if (high < n) {
        EXPECT_LE(1.0 - at_most(n, p, high), kCoverageTail * 1.001) << n << " " << p;
      }
      EXPECT_LE(band.low, p);
      EXPECT_GE(band.high, p);
    }
  }
}

TEST(CoverageBand, OfNothingAllowsEverything) {
  EXPECT_EQ(coverage_band(0, 0.9).low, 0.0);
  EXPECT_EQ(coverage_band(0, 0.9).high, 1.0);
}

TEST(CoverageWatch, CountsTheLastOfTheWindow) {
  CoverageWatch watch(0.9, 5);
  std::vector<bool> all;
  Rng rng(Seed{3});
  for (int i = 0; i < 50; ++i) {
    all.push_back(rng.uniform() < 0.5);
    watch.add(all.back());
    const std::size_t first = all.size() > 5 ? all.size() - 5 : 0;
    std::size_t inside = 0;
    for (std::size_t j = first; j < all.size(); ++j) inside += all[j] ? 1U : 0U;
    EXPECT_EQ(watch.inside(), inside);
    EXPECT_EQ(watch.observations(), all.size() - first);
    EXPECT_EQ(watch.total(), all.size());
  }
}

TEST(CoverageWatch, RaisesNoAlarmWhereCoverageIsAsPromised) {
  CoverageWatch watch(0.9, 1000);
  Rng rng(Seed{7});
  int alarms = 0;
  for (int i = 0; i < 5000; ++i) {
    watch.add(rng.uniform() < 0.9);
    alarms += watch.alarm() != 0 ? 1 : 0;
  }
  EXPECT_EQ(alarms, 0);
}

TEST(CoverageWatch, RaisesAnAlarmOnEitherSide) {
  CoverageWatch low(0.9, 1000);
  CoverageWatch high(0.9, 1000);
  Rng rng(Seed{8});
  for (int i = 0; i < 1000; ++i) {
    low.add(rng.uniform() < 0.8);
    high.add(rng.uniform() < 0.98);
  }
  EXPECT_EQ(low.alarm(), -1);
  EXPECT_EQ(high.alarm(), 1);
  EXPECT_EQ(nlohmann::json::parse(low.to_json(CoverageWatch::History::kWith))["alarm"], "below");
  EXPECT_EQ(nlohmann::json::parse(high.to_json(CoverageWatch::History::kWithout))["alarm"],
            "above");
}

TEST(CoverageWatch, HistoryStaysShortAndKeepsItsEnds) {
  CoverageWatch watch(0.9, 100);
  for (int i = 0; i < 10'000; ++i) watch.add(i % 10 != 0);
  const auto& points = watch.history();
  EXPECT_LE(points.size(), 240U);
  EXPECT_GE(points.size(), 100U);
  EXPECT_GT(points.back().at, 9'800U);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_EQ(points[i].at - points[i - 1].at, points[0].at) << "evenly spaced";
    EXPECT_LE(points[i].band.low, 0.9);
  }
}

}  // namespace
}  // namespace tare::serve
