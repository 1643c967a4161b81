// SPDX-License-Identifier: BSD-3-Clause
#include "math/power_of_two.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tare/base/rng.h"

namespace tare {
namespace {

float power(float x) {
  float one[] = {x};
  to_powers_of_two<WholeByBits<float, std::int32_t>>(one);
  return one[0];
}

TEST(PowerOfTwo, IsWithinItsErrorAndExactAtWholeNumbers) {
  for (int k = 0; k <= 126; ++k) {
    EXPECT_EQ(power(static_cast<float>(-k)), std::ldexp(1.0F, -k)) << k;
  }
  EXPECT_EQ(power(-0.0F), 1.0F);
  Rng rng(Seed{1});
  double worst = 0.0;
  for (int i = 0; i < 200'000; ++i) {
    const auto x =
        static_cast<float>(i % 2 == 0 ? rng.uniform(-126.0, 0.0) : rng.uniform(-1.0, 0.0));
    const double truth = std::exp2(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(power(x)) / truth - 1.0));
  }
  EXPECT_LT(worst, 3e-6);
}

TEST(PowerOfTwo, LanesOfAVectorHaveTheBitsOfAFloatAlone) {
  using Floats = float __attribute__((vector_size(32)));
  using Bits = std::int32_t __attribute__((vector_size(32)));
  Rng rng(Seed{2});
  for (int i = 0; i < 1'000; ++i) {
    std::array<float, 16> x;
    for (float& v : x) v = static_cast<float>(rng.uniform(-126.0, 0.0));
    Floats lanes[2];
    std::memcpy(&lanes, x.data(), sizeof lanes);
    to_powers_of_two<WholeByBits<Floats, Bits>>(lanes);
    std::array<float, 16> found;
    std::memcpy(found.data(), &lanes, sizeof lanes);
    for (std::size_t j = 0; j < x.size(); ++j) ASSERT_EQ(found[j], power(x[j])) << x[j];
  }
}

}  // namespace
}  // namespace tare
