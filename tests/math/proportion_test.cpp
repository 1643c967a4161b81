// SPDX-License-Identifier: BSD-3-Clause
#include "math/proportion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tare {
namespace {

/// P(B = r) for all r, one trial after the other.
std::vector<double> law_of(std::size_t n, double p) {
  std::vector<double> law = {1.0};
  for (std::size_t trial = 0; trial < n; ++trial) {
    std::vector<double> next(law.size() + 1, 0.0);
    for (std::size_t r = 0; r < law.size(); ++r) {
      next[r] += law[r] * (1.0 - p);
      next[r + 1] += law[r] * p;
    }
    law = std::move(next);
  }
  return law;
}

double sum_of(const std::vector<double>& law, std::size_t from, std::size_t to) {
  double sum = 0.0;
  for (std::size_t r = from; r <= to; ++r) sum += law[r];
  return sum;
}

TEST(ClopperPearson, KnownValues) {
  // No success in n: the upper end is 1 - (alpha / 2)^(1/n).
  EXPECT_NEAR(clopper_pearson(0, 10, 0.95).high, 1.0 - std::pow(0.025, 0.1), 1e-12);
  EXPECT_EQ(clopper_pearson(0, 10, 0.95).low, 0.0);
  EXPECT_EQ(clopper_pearson(10, 10, 0.95).high, 1.0);
  EXPECT_NEAR(clopper_pearson(1, 1, 0.9).low, 0.05, 1e-12);
  const ProportionInterval none = clopper_pearson(0, 0, 0.95);
  EXPECT_EQ(none.low, 0.0);
  EXPECT_EQ(none.high, 1.0);
}

TEST(ClopperPearson, TheTailsAtItsEndsAreHalfOfTheRest) {
  for (const std::size_t n : {1u, 7u, 40u, 150u}) {
    for (std::size_t k = 0; k <= n; k += 1 + n / 9) {
      const ProportionInterval found = clopper_pearson(k, n, 0.95);
      if (k > 0) {
        EXPECT_NEAR(sum_of(law_of(n, found.low), k, n), 0.025, 1e-9) << k << " of " << n;
      }
      if (k < n) {
        EXPECT_NEAR(sum_of(law_of(n, found.high), 0, k), 0.025, 1e-9) << k << " of " << n;
      }
    }
  }
}

TEST(ClopperPearson, AMillionRowsAndATinyRest) {
  const ProportionInterval found = clopper_pearson(900'000, 1'000'000, 1.0 - 1e-9);
  EXPECT_NEAR(found.low, 0.9 - 6.1 * 3e-4, 1e-4);
  EXPECT_NEAR(found.high, 0.9 + 6.1 * 3e-4, 1e-4);
}

TEST(BinomialRange, HoldsItsShareAndIsNoWiderThanNeeded) {
  for (const std::size_t n : {1u, 5u, 60u, 200u}) {
    for (const double p : {0.01, 0.05, 0.3, 0.5, 0.9, 0.99}) {
      const std::vector<double> law = law_of(n, p);
      const CountRange range = binomial_range(n, p, 0.95);
      ASSERT_LE(range.low, range.high);
      ASSERT_LE(range.high, n);
      EXPECT_GE(sum_of(law, range.low, range.high), 0.95 - 1e-12) << n << " " << p;
      // One count more on either side would leave more than half of the rest outside.
      EXPECT_GT(sum_of(law, 0, range.low), 0.025);
      EXPECT_GT(sum_of(law, range.high, n), 0.025);
    }
  }
}

TEST(MedianRanks, OfFewRowsAreBeyondTheSample) {
  EXPECT_EQ(median_ranks(5, 0.95).low, 0u);
  EXPECT_EQ(median_ranks(5, 0.95).high, 6u);
  EXPECT_EQ(median_ranks(6, 0.95).low, 1u);  // 2 / 64 is less than 0.05
  EXPECT_EQ(median_ranks(6, 0.95).high, 6u);
  EXPECT_EQ(median_ranks(100, 0.95).low, 40u);
  EXPECT_EQ(median_ranks(100, 0.95).high, 61u);
}

}  // namespace
}  // namespace tare
