// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

#include "math/vector_targets.h"

namespace tare {

/// Rounds to a whole number and multiplies by 2 to its power, in plain operations. `Float` is float
/// with std::int32_t as `Bits`, or a vector of them.
template <class Float, class Bits>
struct WholeByBits {
  static constexpr float kRound = 0x1.8p+23F;  // adding and subtracting it rounds
  TARE_VECTOR_PART static void round(const Float& x, Float& key) { key = x + kRound; }
  TARE_VECTOR_PART static void subtract(const Float& key, Float& x) { x -= key - kRound; }
  /// The low bits of `key` hold the whole number, which is added to the exponent.
  TARE_VECTOR_PART static void scale(const Float& key, const Float& p, Float& out) {
    Bits bits;
    Bits whole;
    std::memcpy(&bits, &p, sizeof bits);
    std::memcpy(&whole, &key, sizeof whole);
    bits += whole << 23;
    std::memcpy(&out, &bits, sizeof bits);
  }
};

/// Replaces each of some numbers x by 2^x, for -126 <= x <= 0 in single precision: the relative
/// error is below 3e-6, and 2^0 is 1. Lanes of vectors have the bits of a float alone, with any
/// `Whole` whose operations are exact. A third of the operations of exp_negative().
///
/// Each step is taken for all numbers before the next one: the steps of one number wait for each
/// other, and a processor does not look far enough ahead to fill the time with another number.
template <class Whole, class Float, std::size_t kCount>
TARE_VECTOR_PART void to_powers_of_two(Float (&x)[kCount]) {
  Float key[kCount];
  Float square[kCount];
  Float low[kCount];
  Float high[kCount];
  const auto each = [](const auto& step) {
    for (std::size_t k = 0; k < kCount; ++k) step(k);
  };
  each([&](std::size_t k) { Whole::round(x[k], key[k]); });
  each([&](std::size_t k) { Whole::subtract(key[k], x[k]); });  // exact, at most 1/2 is left
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
  each([&](std::size_t k) { Whole::scale(key[k], high[k], x[k]); });
}

}  // namespace tare
