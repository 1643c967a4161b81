// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "math/vector_targets.h"

// Rows side by side in vectors of the compiler: what the sums over rows and the search in them have
// in common.
namespace tare::kernel_lanes {

/// The weight of rows far away: it decides where there is no row nearby.
inline constexpr float kFloor = 1e-3F;
/// Weights far below the floor are cut, so that the exponent of a float holds them. Powers of them
/// may be denormal numbers: FlushDenormals keeps processors from being slow with these.
inline constexpr float kSmallestExponent = -96.0F;

/// Rows are added in this many lanes, in an order that is the same with any instruction set: each
/// lane over the block, then lanes that are eight apart, then these as add_lanes() does.
inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kEight = kLanes / 2;

/// For processors whose vectors hold all lanes, and for others.
struct Wide {
  static constexpr std::size_t kCount = kLanes;
  using Floats = float __attribute__((vector_size(kCount * sizeof(float))));
  using Bits = std::int32_t __attribute__((vector_size(kCount * sizeof(float))));
};
struct Half {
  static constexpr std::size_t kCount = kEight;
  using Floats = float __attribute__((vector_size(kCount * sizeof(float))));
  using Bits = std::int32_t __attribute__((vector_size(kCount * sizeof(float))));
};

// Clang takes these vectors in assembly only in a function that is for such processors alone.
#if defined(TARE_WIDE_TARGET) && !defined(__clang__)
#define TARE_WIDE_ASSEMBLY
/// WholeByBits in instructions of these processors: fewer, and also for numbers below -126, whose
/// power is 0 or nearly so.
struct WholeByInstruction {
  TARE_VECTOR_PART static void round(const Wide::Floats& x, Wide::Floats& key) {
    asm("vrndscaleps $8, %1, %0" : "=v"(key) : "v"(x));  // to the nearest whole number
  }
  TARE_VECTOR_PART static void subtract(const Wide::Floats& key, Wide::Floats& x) { x -= key; }
  TARE_VECTOR_PART static void scale(const Wide::Floats& key, const Wide::Floats& p,
                                     Wide::Floats& out) {
    asm("vscalefps %2, %1, %0" : "=v"(out) : "v"(p), "v"(key));
  }
};
#endif

// Results are references: how a function returns a vector depends on the instruction set.
template <class Floats>
TARE_VECTOR_PART void load(const float* from, Floats& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class Floats>
TARE_VECTOR_PART void store(const Floats& v, float* to) {
  std::memcpy(to, &v, sizeof v);
}

/// The smaller of numbers that are not negative, by their bits: a single operation, where the
/// comparison of floats has to mind NaN.
template <class V>
TARE_VECTOR_PART void keep_below(typename V::Floats& v, float most) {
  const typename V::Bits limit = typename V::Bits{} + std::bit_cast<std::int32_t>(most);
  typename V::Bits bits;
  std::memcpy(&bits, &v, sizeof v);
  bits = bits < limit ? bits : limit;
  std::memcpy(&v, &bits, sizeof v);
}

/// The sums of pairs of neighbours in `a` and in `b`, in turn for each four lanes.
TARE_VECTOR_PART void add_pairs(const Half::Floats& a, const Half::Floats& b, Half::Floats& out) {
  out = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
        __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}

/// The sums of each four lanes of four vectors: those of the first four lanes in a row, and then
/// those of the others.
TARE_VECTOR_PART void add_fours(const Half::Floats* v, Half::Floats& out) {
  Half::Floats first;
  Half::Floats second;
  add_pairs(v[0], v[1], first);
  add_pairs(v[2], v[3], second);
  add_pairs(first, second, out);
}

/// The first halves of `a` and `b` beside each other, plus the second halves.
TARE_VECTOR_PART void add_halves(const Half::Floats& a, const Half::Floats& b, Half::Floats& out) {
  out = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
        __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

/// The sums over all lanes of eight vectors: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
TARE_VECTOR_PART void add_lanes(const Half::Floats* v, Half::Floats& out) {
  Half::Floats a;
  Half::Floats b;
  add_fours(v, a);
  add_fours(v + 4, b);
  add_halves(a, b, out);
}

template <class Floats>
TARE_VECTOR_PART void raise_to_fourth(Floats& w) {
  w *= w;
  w *= w;
}

}  // namespace tare::kernel_lanes
