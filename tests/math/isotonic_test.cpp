// SPDX-License-Identifier: BSD-3-Clause
#include "math/isotonic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// The closed form: the largest, over starts at or before i, of the smallest weighted mean of a
/// stretch from there to an end at or after i.
std::vector<double> by_definition(const std::vector<double>& y, const std::vector<double>& w) {
  std::vector<double> fitted(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t from = 0; from <= i; ++from) {
      double smallest = std::numeric_limits<double>::infinity();
      double sum = 0.0;
      double weight = 0.0;
      for (std::size_t to = from; to < y.size(); ++to) {
        sum += w[to] * y[to];
        weight += w[to];
        if (to >= i) smallest = std::min(smallest, sum / weight);
      }
      largest = std::max(largest, smallest);
    }
    fitted[i] = largest;
  }
  return fitted;
}

TEST(Isotonic, IsTheMaxMinOfMeans) {
  Rng rng(Seed{1});
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const std::size_t n = 1 + trial % 30;
    std::vector<double> y(n);
    std::vector<double> w(n);
    for (std::size_t i = 0; i < n; ++i) {
      // Some trends up, some down, some with ties.
      y[i] = trial % 3 == 0
                 ? static_cast<double>(rng.below(4))
                 : rng.normal() + 0.1 * static_cast<double>(i) * (trial % 3 == 1 ? 1 : -1);
      w[i] = trial % 2 == 0 ? 1.0 : rng.uniform(0.01, 3.0);
    }
    const auto expected = by_definition(y, w);
    const auto fitted = isotonic_regression(y, w);
    ASSERT_EQ(fitted.size(), n);
    EXPECT_TRUE(std::ranges::is_sorted(fitted));
    // Means of at most 30 values of size 5: a few units in the last place.
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(fitted[i], expected[i], 1e-13) << trial;
    if (trial % 2 == 0) {
      EXPECT_EQ(isotonic_regression(y), fitted);
    }
  }
}

TEST(Isotonic, LeavesWhatAscendsAsItIs) {
  const std::vector<double> y = {-1e300, 0.1, 0.1, 0.3, 1e300};
  EXPECT_EQ(isotonic_regression(y), y);
  EXPECT_TRUE(isotonic_regression({}).empty());
}

TEST(Isotonic, PoolsAllOfWhatFallsThroughout) {
  const std::vector<double> y = {4.0, 3.0, 2.0, 1.0};
  const std::vector<double> w = {1.0, 1.0, 1.0, 5.0};
  const double mean = (4.0 + 3.0 + 2.0 + 5.0) / 8.0;
  for (const double value : isotonic_regression(y, w)) EXPECT_DOUBLE_EQ(value, mean);
}

}  // namespace
}  // namespace tare
