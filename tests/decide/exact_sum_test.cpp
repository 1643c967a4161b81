// SPDX-License-Identifier: BSD-3-Clause
#include "decide/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "draws.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

__extension__ using Whole = __int128;

TEST(ExactSum, EqualsWholeNumbersOfTwiceTheWidth) {
  // Terms k * 2^e with e from -40 to 20 are whole numbers of 2^-40, whose sum fits 128 bits.
  Rng rng(Seed{5});
  for (std::uint64_t draw = 0; draw < draws(500); ++draw) {
    ExactSum sum;
    Whole whole = 0;
    const std::uint64_t terms = rng.below(40);
    for (std::uint64_t i = 0; i < terms; ++i) {
      const auto digits = static_cast<std::int64_t>(rng.below(std::uint64_t{1} << 53));
      const std::int64_t term = rng.below(2) == 0 ? digits : -digits;
      const int exponent = static_cast<int>(rng.below(61)) - 40;
      sum.add(std::ldexp(static_cast<double>(term), exponent));
      whole += static_cast<Whole>(term) << (exponent + 40);
    }
    EXPECT_EQ(sum.sign(), whole > 0 ? 1 : whole < 0 ? -1 : 0);
    EXPECT_NEAR(std::ldexp(sum.value(), 40), static_cast<double>(whole),
                1e-15 * std::fabs(static_cast<double>(whole)));
    // Without the nearest whole number below, what is left is none; with one more, its sign turns.
    ExactSum rest = sum;
    Whole left = whole;
    while (left != 0) {
      const double part = static_cast<double>(left);
      rest.add(-std::ldexp(part, -40));
      left -= static_cast<Whole>(part);
    }
    EXPECT_EQ(rest.sign(), 0);
    EXPECT_EQ(rest.value(), 0.0);
    rest.add(-std::ldexp(1.0, -40));
    EXPECT_EQ(rest.sign(), -1);
  }
}

TEST(ExactSum, ProductsLoseNoDigit) {
  Rng rng(Seed{6});
  for (std::uint64_t draw = 0; draw < draws(2'000); ++draw) {
    const auto a = static_cast<std::int64_t>(rng.below(std::uint64_t{1} << 53));
    const auto b = static_cast<std::int64_t>(rng.below(std::uint64_t{1} << 53));
    ExactSum sum;
    sum.add_product(static_cast<double>(a), static_cast<double>(b));
    // The product as three numbers of at most 53 bits each.
    const Whole product = static_cast<Whole>(a) * b;
    constexpr Whole kPart = Whole{1} << 40;
    sum.add(-static_cast<double>(product % kPart));
    sum.add(-static_cast<double>(product / kPart % kPart) * std::ldexp(1.0, 40));
    sum.add(-static_cast<double>(product / kPart / kPart) * std::ldexp(1.0, 80));
    EXPECT_EQ(sum.sign(), 0);
  }
}

TEST(ExactSum, SeesWhatDoublesDoNot) {
  ExactSum sum;
  sum.add(1e30);
  sum.add(1.0);
  sum.add(-1e30);
  EXPECT_EQ(sum.value(), 1.0);
  sum.add(-1.0);
  EXPECT_EQ(sum.sign(), 0);
  ExactSum tenths;  // ten times the double 0.1 is more than 1
  for (int i = 0; i < 10; ++i) tenths.add(0.1);
  tenths.add(-1.0);
  EXPECT_EQ(tenths.sign(), 1);
  EXPECT_EQ(tenths.times(-4.0).sign(), -1);
  tenths.add(tenths);
  EXPECT_EQ(tenths.sign(), 1);
}

}  // namespace
}  // namespace tare
