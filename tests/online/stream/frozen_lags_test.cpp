// SPDX-License-Identifier: BSD-3-Clause
#include "online/stream/frozen_lags.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "draws.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

/// Errors in which each is `weight` times the one before and noise.
std::vector<double> following_errors(std::size_t count, double weight, std::uint64_t seed) {
  Rng rng(Seed{seed});
  std::vector<double> errors;
  double last = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    last = weight * last + rng.normal();
    errors.push_back(last);
  }
  return errors;
}

TEST(FrozenLags, IndependentErrorsAreLeftAsTheyAre) {
  const auto count = static_cast<std::size_t>(draws(200));
  std::size_t subtracted = 0;
  for (std::uint64_t draw = 0; draw < count; ++draw) {
    FrozenLags lags;
    for (const double e : following_errors(300, 0.0, 900 + draw)) EXPECT_EQ(lags.left(e), e);
    lags.freeze();
    if (lags.subtracts()) {
      ++subtracted;
    } else {
      EXPECT_EQ(lags.left(1.25), 1.25);
    }
  }
  // By BIC: with two weights and 300 rows in exp(-log(300)) = 0.3 % of streams, and a few more for
  // the choice among lags. 5 % of 40 draws is 2.
  EXPECT_LE(subtracted, count / 20);
}

TEST(FrozenLags, WhatFollowsFromThePastIsSubtracted) {
  FrozenLags lags;
  const std::vector<double> errors = following_errors(5'000, 0.8, 77);
  std::vector<double> left;
  for (std::size_t t = 0; t < errors.size(); ++t) {
    if (t == 500) lags.freeze();
    const double one = lags.left(errors[t]);
    if (t >= 500) left.push_back(one);
  }
  ASSERT_TRUE(lags.subtracts());
  double product = 0.0, square = 0.0, whole = 0.0;
  for (std::size_t t = 1; t < left.size(); ++t) {
    product += left[t] * left[t - 1];
    square += left[t] * left[t];
    whole += errors[t + 500] * errors[t + 500];
  }
  // 500 rows know the weight to 0.03; 4,500 products have a standard error of 0.015.
  EXPECT_LT(std::abs(product / square), 0.1);
  EXPECT_LT(square, 0.5 * whole);  // 0.36 of it is noise
}

TEST(FrozenLags, GoesOnWithTheSameBitsAfterARestart) {
  FrozenLags one;
  const std::vector<double> errors = following_errors(2'600, 0.7, 78);
  for (std::size_t t = 0; t < 2'200; ++t) {
    if (t == 400) one.freeze();
    one.left(errors[t]);
  }
  TensorStore store;
  one.save(TensorWriter(store));
  FrozenLags other;
  other.load(TensorReader(store));
  EXPECT_TRUE(other.frozen());
  for (std::size_t t = 2'200; t < errors.size(); ++t) {
    EXPECT_EQ(one.left(errors[t]), other.left(errors[t]));
  }
}

}  // namespace
}  // namespace tare
