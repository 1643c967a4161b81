// SPDX-License-Identifier: BSD-3-Clause
#include "math/binomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// All probabilities of n trials, one trial after the other: no factorial and no logarithm.
std::vector<long double> by_trials(std::size_t n, double p) {
  std::vector<long double> law = {1.0L};
  for (std::size_t trial = 0; trial < n; ++trial) {
    std::vector<long double> next(law.size() + 1, 0.0L);
    for (std::size_t r = 0; r < law.size(); ++r) {
      next[r] += law[r] * (1.0L - static_cast<long double>(p));
      next[r + 1] += law[r] * static_cast<long double>(p);
    }
    law = std::move(next);
  }
  return law;
}

constexpr double kSomeLevels[] = {1e-6, 0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.77, 0.9, 0.95, 0.999};

TEST(Binomial, AgreesWithOneTrialAfterTheOther) {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 18u, 19u, 40u, 130u, 400u}) {
    for (const double p : kSomeLevels) {
      const auto law = by_trials(n, p);
      long double sum = 0.0L;
      for (std::size_t r = 0; r <= n; ++r) {
        sum += law[r];
        if (law[r] > 1e-300L) {
          const auto exact = static_cast<double>(law[r]);
          EXPECT_NEAR(binomial_probability(n, p, r) / exact, 1.0, 2e-12)
              << n << " " << p << " " << r;
        }
        const auto at_most = static_cast<double>(sum);
        EXPECT_NEAR(binomial_at_most(n, p, r), at_most, 1e-14 + 2e-12 * at_most);
      }
    }
  }
}

TEST(Binomial, SmallSumsArePreciseToo) {
  const auto law = by_trials(300, 0.5);
  const auto exact = static_cast<double>(law[0] + law[1] + law[2]);
  ASSERT_LT(exact, 1e-80);
  EXPECT_NEAR(binomial_at_most(300, 0.5, 2) / exact, 1.0, 1e-12);
}

TEST(Binomial, ManyTrialsAddUpToOne) {
  const std::uint64_t n = 4'000'000'000;
  const double half = binomial_at_most(n, 0.5, n / 2);
  // P(B <= n/2) = 1/2 + P(B = n/2) / 2, and P(B = n/2) is sqrt(2 / (pi n)) less a part in 4 n.
  EXPECT_NEAR(half, 0.5 + 0.5 * std::sqrt(2.0 / (3.14159265358979324 * 4e9)), 1e-11);
}

TEST(BinomialLowerRank, IsTheLargestWhoseTailIsSmallEnough) {
  for (std::size_t n = 1; n <= 130; n += n < 30 ? 1 : 25) {
    for (const double p : kSomeLevels) {
      const auto law = by_trials(n, p);
      for (const double tail : {0.05, 0.01, 0.3}) {
        std::uint64_t expected = 0;
        long double below = 0.0L;
        for (std::size_t r = 1; r <= n; ++r) {
          below += law[r - 1];
          if (below <= static_cast<long double>(tail)) expected = r;
        }
        EXPECT_EQ(binomial_lower_rank(n, p, tail), expected) << n << " " << p << " " << tail;
      }
    }
  }
}

TEST(BinomialLowerRank, IsNearTheNormalLawsForManyTrials) {
  for (const double n : {1e5, 1e6, 1e8}) {
    for (const double p : {0.1, 0.5, 0.99}) {
      const double normal = n * p - 1.6448536 * std::sqrt(n * p * (1.0 - p));
      const auto rank = binomial_lower_rank(static_cast<std::uint64_t>(n), p, 0.05);
      EXPECT_NEAR(static_cast<double>(rank), normal, 2.0) << n << " " << p;
    }
  }
}

TEST(BinomialLowerRank, NeverDecreasesWithTheLevel) {
  Rng rng(Seed{5});
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t n = 1 + rng.below(2000);
    std::uint64_t last = 0;
    for (int k = 1; k < 100; ++k) {
      const std::uint64_t rank = binomial_lower_rank(n, k / 100.0, 0.05);
      EXPECT_GE(rank, last);
      last = rank;
    }
  }
}

}  // namespace
}  // namespace tare
