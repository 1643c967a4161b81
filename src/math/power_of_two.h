// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "math/vector_targets.h"

namespace tare {

/// Replaces x by 2^x, for -126 <= x <= 0 in single precision: the relative error is below 3e-7, and
/// 2^0 is 1. `Float` is float with std::int32_t as `Bits`, or a vector of them, whose lanes have
/// the bits of a float alone. Half of the operations of exp_negative().
template <class Float, class Bits>
TARE_VECTOR_PART void to_power_of_two(Float& x) {
  constexpr float kRound = 0x1.8p+23F;  // adding and subtracting it rounds to a whole number
  const Float shifted = x + kRound;
  const Float r = x - (shifted - kRound);  // exact, |r| <= 1/2
  // The polynomial with 1 at 0 whose largest relative error on that range is least, 1e-7; in three
  // parts, so that fewer operations wait for each other.
  const Float square = r * r;
  const Float low = r * 0x1.62e42ap-1F + 1.0F;
  const Float middle = r * 0x1.c6b752p-5F + 0x1.ebf9bcp-3F;
  const Float high = r * 0x1.5bba14p-10F + 0x1.3cea88p-7F;
  const Float p = (high * square + middle) * square + low;
  // The low bits of `shifted` hold the whole number, which is added to the exponent.
  Bits bits;
  Bits whole;
  std::memcpy(&bits, &p, sizeof bits);
  std::memcpy(&whole, &shifted, sizeof whole);
  bits += whole << 23;
  std::memcpy(&x, &bits, sizeof x);
}

}  // namespace tare
