// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/level.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.h"

namespace tare {
namespace {

TEST(Level, LiesStrictlyBetweenZeroAndOne) {
  for (const double wrong :
       {0.0, 1.0, -0.1, 1.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    expect_error(ErrorCode::kInvalidArgument, "strictly between 0 and 1", [&] { Level{wrong}; });
  }
  for (const double right : {1e-300, 0.5, std::nextafter(1.0, 0.0)})
    EXPECT_EQ(Level{right}.value(), right);
}

TEST(Level, RankIsTheCeilingOfTheDecimalTimesTheCount) {
  // Every level of three decimals against counts up to 2,000, in whole numbers.
  for (std::uint64_t thousandths = 1; thousandths < 1000; ++thousandths) {
    const Level level(static_cast<double>(thousandths) / 1000.0);
    for (std::uint64_t count = 1; count <= 2000; count += 7) {
      EXPECT_EQ(level.rank(count), (thousandths * count + 999) / 1000)
          << thousandths << " of " << count;
    }
  }
}

TEST(Level, RankBelowIsTheFloorOfTheDecimalTimesTheCount) {
  for (std::uint64_t thousandths = 1; thousandths < 1000; ++thousandths) {
    const Level level(static_cast<double>(thousandths) / 1000.0);
    for (std::uint64_t count = 0; count <= 2000; count += 7) {
      EXPECT_EQ(level.rank_below(count), thousandths * count / 1000)
          << thousandths << " of " << count;
    }
  }
  EXPECT_EQ(Level{1e-300}.rank_below(1000), 0U);
  EXPECT_EQ(Level{0.05}.rank_below(20), 1U);  // 0.05 is a little more than 5/100 in binary
}

TEST(Level, RankStaysInsideTheSample) {
  for (const double tau : {1e-300, 1e-18, 1e-9, 1.0 / 3.0, 0.1 + 0.2, std::nextafter(1.0, 0.0)}) {
    const Level level(tau);
    EXPECT_EQ(level.rank(0), 0U);
    for (const std::uint64_t count : {1ULL, 2ULL, 10ULL, 1'000'000ULL, 1ULL << 52}) {
      EXPECT_GE(level.rank(count), 1U) << tau;
      EXPECT_LE(level.rank(count), count) << tau;
    }
  }
}

TEST(Level, CentralRankIsTheCeilingOfTheShareBetweenALevelAndItsMirror) {
  for (std::uint64_t thousandths = 1; thousandths < 1000; ++thousandths) {
    const Level level(static_cast<double>(thousandths) / 1000.0);
    const std::uint64_t inside =
        thousandths < 500 ? 1000 - 2 * thousandths : 2 * thousandths - 1000;
    for (std::uint64_t count = 0; count <= 2000; count += 7) {
      EXPECT_EQ(level.central_rank(count), (inside * count + 999) / 1000)
          << thousandths << " of " << count;
    }
  }
}

TEST(Level, CentralRankStaysInsideTheSample) {
  // 0.0198... prints with more digits than the fraction keeps, as 1e-300 does.
  for (const double tau : {1e-300, 1e-18, 1e-9, 0.01 + 0.98 / 99.0, 1.0 / 3.0, 0.1 + 0.2,
                           std::nextafter(0.5, 0.0), std::nextafter(1.0, 0.0)}) {
    const Level level(tau);
    EXPECT_EQ(level.central_rank(0), 0U);
    for (const std::uint64_t count : {1ULL, 2ULL, 10ULL, 1'000'000ULL, 1ULL << 52}) {
      EXPECT_LE(level.central_rank(count), count) << tau;
      const double exact = std::abs(1.0 - 2.0 * tau) * static_cast<double>(count);
      EXPECT_NEAR(static_cast<double>(level.central_rank(count)), std::ceil(exact), 1.0) << tau;
    }
  }
  EXPECT_EQ(Level{1e-300}.central_rank(1000), 1000U);
  EXPECT_EQ(Level{0.5}.central_rank(1000), 0U);
}

TEST(Level, MetricLevelsAreThePapers) {
  const auto levels = metric_levels();
  ASSERT_EQ(levels.size(), 100U);
  EXPECT_DOUBLE_EQ(levels.front().value(), 0.01);
  EXPECT_DOUBLE_EQ(levels.back().value(), 0.99);
  EXPECT_NEAR(levels[1].value() - levels[0].value(), 0.98 / 99.0, 1e-15);
}

TEST(Level, IntervalEndsAreTheNumbersAPersonMeans) {
  for (const auto& [confidence, low, high] : {std::tuple{0.9, 0.05, 0.95},
                                              {0.95, 0.025, 0.975},
                                              {0.8, 0.1, 0.9},
                                              {0.5, 0.25, 0.75},
                                              {0.99, 0.005, 0.995}}) {
    const auto [lower, upper] = interval_levels(confidence);
    EXPECT_EQ(lower.value(), low);
    EXPECT_EQ(upper.value(), high);
  }
  expect_error(ErrorCode::kInvalidArgument, "strictly between", [] { interval_levels(1.0); });
}

}  // namespace
}  // namespace tare
