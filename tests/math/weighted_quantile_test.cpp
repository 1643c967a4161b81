// SPDX-License-Identifier: BSD-3-Clause
#include "math/weighted_quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

TEST(WeightedQuantile, IsTheSmallestValueThatReachesTheShare) {
  const std::vector<double> y = {40, 0, 20, 10, 30};
  const std::vector<double> w = {2, 2, 2, 2, 2};
  EXPECT_EQ(weighted_quantile(y, w, Level{0.2}), 0);  // exactly a fifth: reached
  EXPECT_EQ(weighted_quantile(y, w, Level{0.21}), 10);
  EXPECT_EQ(weighted_quantile(y, w, Level{0.5}), 20);
  EXPECT_EQ(weighted_quantile(y, {}, Level{0.5}), 20);
  EXPECT_EQ(weighted_quantile(y, w, Level{0.8}), 30);
  EXPECT_EQ(weighted_quantile(y, w, Level{0.99}), 40);
}

TEST(WeightedQuantile, NeverLeavesTheRangeAndNeverAnswersARowWithoutWeight) {
  Rng rng(Seed{1});
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t n = 1 + rng.below(trial % 10 == 0 ? 2000 : 40);
    std::vector<double> y(n);
    std::vector<double> w(n);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = static_cast<double>(i);
      w[i] = rng.uniform() < 0.7 ? 0.0 : std::pow(10.0, rng.uniform(-120.0, 3.0));
    }
    w[rng.below(n)] = 1.0;
    double before = -1.0;
    for (const double tau :
         {1e-300, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999999, std::nextafter(1.0, 0.0)}) {
      const double q = weighted_quantile(y, w, Level{tau});
      EXPECT_GT(w[static_cast<std::size_t>(q)], 0.0);
      EXPECT_GE(q, before);
      before = q;
    }
  }
}

TEST(WeightedQuantile, RefusesWhatHasNoQuantile) {
  expect_error(ErrorCode::kShapeMismatch, "2 values but 1", [] {
    weighted_quantile(std::vector<double>{1, 2}, std::vector<double>{1}, Level{0.5});
  });
  expect_error(ErrorCode::kInvalidArgument, "sum to 0", [] {
    weighted_quantile(std::vector<double>{1}, std::vector<double>{0}, Level{0.5});
  });
  expect_error(ErrorCode::kInvalidArgument, "no values",
               [] { weighted_quantile({}, {}, Level{0.5}); });
}

TEST(WeightSums, AgreeWithPlainSums) {
  Rng rng(Seed{2});
  for (const std::size_t n : {0U, 1U, 255U, 256U, 257U, 5000U}) {
    std::vector<double> w(n);
    long double total = 0;
    long double squares = 0;
    for (double& value : w) {
      value = rng.uniform();
      total += value;
      squares += static_cast<long double>(value) * value;
    }
    WeightSums sums;
    sum_weights(w, sums);
    EXPECT_NEAR(sums.total, static_cast<double>(total), 1e-10);
    EXPECT_NEAR(sums.squares, static_cast<double>(squares), 1e-10);
    EXPECT_NEAR(sums.effective_size(), n == 0 ? 0.0 : static_cast<double>(total * total / squares),
                1e-7);
  }
}

}  // namespace
}  // namespace tare
