// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

#include "math/vector_targets.h"

namespace tare {

/// Replaces each of `count` numbers x by 2^x, for -126 <= x <= 0 in single precision: the relative
/// error is below 3e-6, and 2^0 is 1. `Float` is float with std::int32_t as `Bits`, or a vector of
/// them, whose lanes have the bits of a float alone. A third of the operations of exp_negative().
///
/// Each step is taken for all numbers before the next one: the steps of one number wait for each
/// other, and a processor does not look far enough ahead to fill the time with another number.
template <class Float, class Bits, std::size_t kCount>
TARE_VECTOR_PART void to_powers_of_two(Float (&x)[kCount]) {
  constexpr float kRound = 0x1.8p+23F;  // adding and subtracting it rounds to a whole number
  Float shifted[kCount];
  Float square[kCount];
  Float low[kCount];
  Float high[kCount];
  const auto each = [](const auto& step) {
    for (std::size_t k = 0; k < kCount; ++k) step(k);
  };
  each([&](std::size_t k) { shifted[k] = x[k] + kRound; });
  each([&](std::size_t k) { low[k] = shifted[k] - kRound; });
  each([&](std::size_t k) { x[k] -= low[k]; });  // exact, at most 1/2
  // The polynomial with 1 at 0 whose largest relative error on that range is least, 2.8e-6; in
  // parts, so that fewer operations wait for each other.
  each([&](std::size_t k) { square[k] = x[k] * x[k]; });
  each([&](std::size_t k) { high[k] = x[k] * 0x1.c9fc46p-5F; });
  each([&](std::size_t k) { low[k] = x[k] * 0x1.62e12cp-1F; });
  each([&](std::size_t k) { high[k] += 0x1.ec0378p-3F; });
  each([&](std::size_t k) { x[k] = square[k] * 0x1.3a02ccp-7F; });
  each([&](std::size_t k) { low[k] += 1.0F; });
  each([&](std::size_t k) { high[k] += x[k]; });
  each([&](std::size_t k) { high[k] *= square[k]; });
  each([&](std::size_t k) { high[k] += low[k]; });
  // The low bits of `shifted` hold the whole number, which is added to the exponent.
  each([&](std::size_t k) {
    Bits bits;
    Bits whole;
    std::memcpy(&bits, &high[k], sizeof bits);
    std::memcpy(&whole, &shifted[k], sizeof whole);
    bits += whole << 23;
    std::memcpy(&x[k], &bits, sizeof bits);
  });
}

}  // namespace tare
