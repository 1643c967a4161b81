// SPDX-License-Identifier: BSD-3-Clause
#include "index/coarse_kernels.h"

#include <bit>
#include <cstring>

// Vectors of unknown length cannot be kept in arrays of registers.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/coarse_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Sums = hn::CappedTag<std::int32_t, 16>;
using Sum = hn::Vec<Sums>;

constexpr std::size_t kWordRows = 64;
constexpr std::size_t kLanes = hn::MaxLanes(Sums());
// Queries and vectors of rows whose sums stay in registers: 16 sums of 32 registers, or 8 of 16.
constexpr std::size_t kTileTests = 4;
constexpr std::size_t kTileVectors = kLanes == 16 ? 4 : 2;
constexpr std::size_t kTileRows = kTileVectors * kLanes;

struct WordRange {
  std::size_t first;
  std::size_t count;
  HWY_INLINE std::size_t operator[](std::size_t k) const { return first + k; }
};
struct WordList {
  const std::uint32_t* words;
  std::size_t count;
  HWY_INLINE std::size_t operator[](std::size_t k) const { return words[k]; }
};

#if HWY_TARGET == HWY_SCALAR  // has no vector of two numbers of 16 bits

template <std::size_t kTests, class Words>
void test_words(const CoarseStore& rows, const Words& words, const CoarseTest* tests) {
  for (std::size_t t = 0; t < kTests; ++t) {
    for (std::size_t k = 0; k < words.count; ++k) {
      const std::size_t w = words[k];
      std::uint64_t sure = 0;
      std::uint64_t possible = 0;
      for (std::size_t i = 0; i < kWordRows; ++i) {
        std::int32_t sum = rows.norms[w * kWordRows + i];
        for (std::size_t j = 0; j < 2 * rows.pairs; ++j) {
          const std::size_t at = ((w * rows.pairs + j / 2) * kWordRows + i) * 2 + j % 2;
          sum += std::int32_t{rows.values[at]} * tests[t].query[j];
        }
        sure |= std::uint64_t{sum < tests[t].sure_limit} << i;
        possible |= std::uint64_t{sum < tests[t].possible_limit} << i;
      }
      tests[t].sure[k] = sure;
      tests[t].possible[k] = possible;
    }
  }
}

#else

using Halves = hn::Repartition<std::int16_t, Sums>;

/// Sums of rows for one query. Where products of even and odd features are added apart, `odd` has
/// the latter; elsewhere it stays zero and costs nothing.
struct TileSums {
  Sum even[kTileVectors];
  Sum odd[kTileVectors];
};

/// Writes the lanes of a mask as bits of a word, from bit `first` on; bits are written in order.
/// Straight to where they belong: on a Zen 4 that takes 15 % less time than putting the word
/// together in a register first.
HWY_INLINE void put_bits(hn::Mask<Sums> mask, std::size_t first, std::uint64_t* word) {
  static_assert(std::endian::native == std::endian::little);
  std::uint8_t* bytes = reinterpret_cast<std::uint8_t*>(word) + first / 8;
  if constexpr (kLanes >= 8) {
    hn::StoreMaskBits(Sums(), mask, bytes);
  } else {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(Sums(), mask, bits);
    const auto shifted = static_cast<std::uint8_t>(bits[0] << (first % 8));
    *bytes = first % 8 == 0 ? shifted : static_cast<std::uint8_t>(*bytes | shifted);
  }
}

/// Rows `i` and on of the word.
template <std::size_t kTests>
HWY_INLINE void tile_sums(const CoarseStore& rows, std::size_t word, std::size_t i,
                          const CoarseTest* tests, TileSums* sums) {
  const Sums tag;
  const Halves halves;
  for (std::size_t v = 0; v < kTileVectors; ++v) {
    const auto norm = hn::LoadU(tag, rows.norms + word * kWordRows + i + v * kLanes);
    for (std::size_t t = 0; t < kTests; ++t) {
      sums[t].even[v] = norm;
      sums[t].odd[v] = hn::Zero(tag);
    }
  }
  const std::int16_t* values = rows.values + (word * rows.pairs * kWordRows + i) * 2;
  for (std::size_t p = 0; p < rows.pairs; ++p, values += 2 * kWordRows) {
    hn::Vec<Halves> row[kTileVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      row[v] = hn::LoadU(halves, values + 2 * v * kLanes);
    }
#pragma GCC unroll 4
    for (std::size_t t = 0; t < kTests; ++t) {
      std::int32_t both = 0;
      std::memcpy(&both, tests[t].query + 2 * p, sizeof(both));
      const auto query = hn::BitCast(halves, hn::Set(tag, both));
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        sums[t].even[v] =
            hn::ReorderWidenMulAccumulate(tag, row[v], query, sums[t].even[v], sums[t].odd[v]);
      }
    }
  }
}

template <std::size_t kTests, class Words>
void test_words(const CoarseStore& rows, const Words& words, const CoarseTest* tests) {
  const Sums tag;
  for (std::size_t k = 0; k < words.count; ++k) {
    for (std::size_t i = 0; i < kWordRows; i += kTileRows) {
      TileSums sums[kTests];
      tile_sums<kTests>(rows, words[k], i, tests, sums);
#pragma GCC unroll 4
      for (std::size_t t = 0; t < kTests; ++t) {
        const auto sure_limit = hn::Set(tag, tests[t].sure_limit);
        const auto possible_limit = hn::Set(tag, tests[t].possible_limit);
        std::uint64_t* sure = tests[t].sure + k;
        std::uint64_t* possible = tests[t].possible + k;
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          const auto sum = hn::RearrangeToOddPlusEven(sums[t].even[v], sums[t].odd[v]);
          put_bits(hn::Lt(sum, sure_limit), i + v * kLanes, sure);
          put_bits(hn::Lt(sum, possible_limit), i + v * kLanes, possible);
        }
      }
    }
  }
}

#endif

void CoarseMasks(const CoarseStore& rows, std::size_t first, std::size_t last,
                 std::span<const CoarseTest> tests) {
  const WordRange words{first, last - first};
  std::size_t t = 0;
  for (; t + kTileTests <= tests.size(); t += kTileTests) {
    test_words<kTileTests>(rows, words, tests.data() + t);
  }
  for (; t < tests.size(); ++t) test_words<1>(rows, words, tests.data() + t);
}

void CoarseMasksAt(const CoarseStore& rows, std::span<const std::uint32_t> words,
                   const CoarseTest& test) {
  test_words<1>(rows, WordList{words.data(), words.size()}, &test);
}

std::size_t CoarseBoxesNear(const CoarseBoxStore& boxes, const float* query, float limit,
                            std::uint32_t* out) {
  const hn::CappedTag<float, kCoarseBoxes> tag;
  const hn::RebindToUnsigned<decltype(tag)> numbers;
  const auto zero = hn::Zero(tag);
  const auto reach = hn::Set(tag, limit);
  std::uint32_t* next = out;
  for (std::size_t g = 0; g < boxes.groups; ++g) {
    const float* group = boxes.values + g * boxes.dims * 2 * kCoarseBoxes;
    for (std::size_t i = 0; i < kCoarseBoxes; i += hn::Lanes(tag)) {
      auto sum = zero;
      for (std::size_t j = 0; j < boxes.dims; ++j) {
        const float* sides = group + j * 2 * kCoarseBoxes + i;
        const auto at = hn::Set(tag, query[j]);
        const auto below = hn::Sub(hn::LoadU(tag, sides), at);
        const auto above = hn::Sub(at, hn::LoadU(tag, sides + kCoarseBoxes));
        const auto gap = hn::Max(hn::Max(below, above), zero);
        sum = hn::MulAdd(gap, gap, sum);
      }
      const auto near = hn::RebindMask(numbers, hn::Le(sum, reach));
      const auto box = hn::Iota(numbers, static_cast<std::uint32_t>(g * kCoarseBoxes + i));
      hn::StoreU(hn::Compress(box, near), numbers, next);
      next += hn::CountTrue(numbers, near);
    }
  }
  return static_cast<std::size_t>(next - out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tare
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tare {
namespace {

HWY_EXPORT(CoarseMasks);
HWY_EXPORT(CoarseMasksAt);
HWY_EXPORT(CoarseBoxesNear);

}  // namespace

void coarse_masks(const CoarseStore& rows, std::size_t first, std::size_t last,
                  std::span<const CoarseTest> tests) {
  HWY_DYNAMIC_DISPATCH(CoarseMasks)(rows, first, last, tests);
}

void coarse_masks_at(const CoarseStore& rows, std::span<const std::uint32_t> words,
                     const CoarseTest& test) {
  HWY_DYNAMIC_DISPATCH(CoarseMasksAt)(rows, words, test);
}

std::size_t coarse_boxes_near(const CoarseBoxStore& boxes, const float* query, float limit,
                              std::uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(CoarseBoxesNear)(boxes, query, limit, out);
}

}  // namespace tare
#endif
