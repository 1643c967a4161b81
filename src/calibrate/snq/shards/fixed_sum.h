// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

namespace tare {

/// Sums of weights as whole multiples of a power of two. Addition of whole numbers has no rounding,
/// so a sum depends neither on the order of its terms nor on how they are grouped.
__extension__ using FixedSum = unsigned __int128;

/// A weight has at most this many bits: 2^32 of them, and the sums of their squares, fit a FixedSum
/// with room to spare.
inline constexpr int kFixedBits = 62;

/// Of the rows around a query.
struct WindowSums {
  FixedSum total = 0;
  /// Of the weights, in units of 2^(2 exponent + kFixedBits); of 1 where the exponent is 0.
  FixedSum squares = 0;
};

/// The value rounded down to a whole number; 0 <= value <= 2^kFixedBits.
inline std::uint64_t fixed_weight(double value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace tare
