// SPDX-License-Identifier: BSD-3-Clause
#include "index/kd_kernels.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/kd_kernels.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;
using Keys = hn::Rebind<std::uint64_t, Doubles>;
using Places = hn::Rebind<std::uint32_t, Doubles>;

using Bits = std::uint32_t;

/// The lanes of a mask over eight values that are seen `lanes` at a time, as bits from `shift` on.
template <class Mask>
HWY_INLINE Bits bits_of(Mask mask, std::size_t shift) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(Doubles(), mask, bits);
  return static_cast<Bits>(bits[0]) << shift;
}

void FindBoxes(const BoxLevels& tree, const double* low, const double* high, double reach2,
               std::vector<BoxId>& stack, std::vector<std::uint32_t>& leaves,
               std::vector<BoxId>& inside) {
  const Doubles tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto limit = hn::Set(tag, reach2);
  leaves.clear();
  inside.clear();
  // A box on the stack stands for itself and its seven siblings.
  stack.assign(1, {static_cast<std::uint32_t>(tree.levels.size() - 1), 0});
  while (!stack.empty()) {
    const BoxId at = stack.back();
    stack.pop_back();
    const double* boxes = tree.levels[at.level] + std::size_t{at.box} * 2 * tree.dims;
    Bits some = 0;
    Bits all = 0;
    for (std::size_t lane = 0; lane < kFan; lane += lanes) {
      auto near = hn::Zero(tag);
      auto far = hn::Zero(tag);
      for (std::size_t j = 0; j < tree.dims; ++j) {
        const auto box_low = hn::LoadU(tag, boxes + 2 * kFan * j + lane);
        const auto box_high = hn::LoadU(tag, boxes + 2 * kFan * j + kFan + lane);
        const auto from = hn::Set(tag, low[j]);
        const auto to = hn::Set(tag, high[j]);
        const auto gap =
            hn::Max(hn::Max(hn::Sub(from, box_high), hn::Sub(box_low, to)), hn::Zero(tag));
        const auto span = hn::Max(hn::Sub(box_high, from), hn::Sub(to, box_low));
        near = hn::Add(near, hn::Mul(gap, gap));
        far = hn::Add(far, hn::Mul(span, span));
      }
      some |= bits_of(hn::Le(near, limit), lane);
      all |= bits_of(hn::Le(far, limit), lane);
    }
    all &= some;  // an empty box is near nothing
    for (Bits left = all; left != 0; left &= left - 1) {
      inside.push_back({at.level, at.box + static_cast<std::uint32_t>(std::countr_zero(left))});
    }
    for (Bits left = some & ~all; left != 0; left &= left - 1) {
      const std::uint32_t box = at.box + static_cast<std::uint32_t>(std::countr_zero(left));
      if (at.level == 0) {
        leaves.push_back(box);
      } else {
        stack.push_back({at.level - 1, box * static_cast<std::uint32_t>(kFan)});
      }
    }
  }
}

void BoxGaps(const BoxLevels& tree, std::uint32_t level, std::uint32_t first, const double* query,
             double* out) {
  const Doubles tag;
  const double* boxes = tree.levels[level] + std::size_t{first} * 2 * tree.dims;
  for (std::size_t lane = 0; lane < kFan; lane += hn::Lanes(tag)) {
    auto near = hn::Zero(tag);
    for (std::size_t j = 0; j < tree.dims; ++j) {
      const auto at = hn::Set(tag, query[j]);
      const auto below = hn::Sub(hn::LoadU(tag, boxes + 2 * kFan * j + lane), at);
      const auto above = hn::Sub(at, hn::LoadU(tag, boxes + 2 * kFan * j + kFan + lane));
      const auto gap = hn::Max(hn::Max(below, above), hn::Zero(tag));
      near = hn::Add(near, hn::Mul(gap, gap));
    }
    hn::StoreU(near, tag, out + lane);
  }
}

/// hn::Iota would write these to the stack at each call.
constexpr std::uint64_t kSteps[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/// Keys of the rows `first` and on, with their places.
HWY_INLINE hn::Vec<Keys> keys_at(const std::uint32_t* places, std::uint32_t first) {
  const Keys keys;
  const auto place = hn::PromoteTo(keys, hn::LoadU(Places(), places));
  const auto row = hn::Add(hn::LoadU(keys, kSteps), hn::Set(keys, first));
  return hn::Or(hn::ShiftLeft<32>(place), row);
}

/// The lanes in the mask, moved to the front. Highway's own (1.0) copies a table of two kilobytes
/// to the stack at each call where vectors are widest, which was a third of a query's time.
HWY_INLINE hn::Vec<Keys> compressed(hn::Vec<Keys> keys, hn::Mask<Keys> lanes) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return hn::Vec<Keys>{_mm512_maskz_compress_epi64(lanes.raw, keys.raw)};
#else
  return hn::Compress(keys, lanes);
#endif
}

/// Appends the keys of the lanes in the mask. The memory form of compress is slow on some
/// processors, so a whole vector is stored and the next overwrites what is too much.
HWY_INLINE RowKey* append(hn::Vec<Keys> keys, hn::Mask<Keys> lanes, RowKey* out) {
  const Keys tag;
  hn::StoreU(compressed(keys, lanes), tag, out);
  return out + hn::CountTrue(tag, lanes);
}

/// Of the rows of a leaf whose first feature starts at `values`.
HWY_INLINE hn::Vec<Doubles> squared_distances(const double* values, std::size_t dims,
                                              const double* query) {
  const Doubles tag;
  auto sum = hn::Zero(tag);
  for (std::size_t j = 0; j < dims; ++j) {
    const auto diff = hn::Sub(hn::LoadU(tag, values + j * kLeafRows), hn::Set(tag, query[j]));
    sum = hn::Add(sum, hn::Mul(diff, diff));
  }
  return sum;
}

/// Leaves of one query lie all over memory, and what is read of each is too short for the hardware
/// to see it coming: a leaf is asked for while an earlier one is looked at.
constexpr std::size_t kLeavesAhead = 3;
void fetch_ahead(const LeafStore& store, std::span<const std::uint32_t> leaves, std::size_t k) {
  if (k + kLeavesAhead >= leaves.size()) return;
  constexpr std::size_t kLine = 64;
  const std::size_t leaf = leaves[k + kLeavesAhead];
  const double* values = store.values + leaf * store.dims * kLeafRows;
  for (std::size_t i = 0; i < store.dims * kLeafRows; i += kLine / sizeof(double)) {
    hwy::Prefetch(values + i);
  }
  const std::uint32_t* places = store.places + leaf * kLeafRows;
  for (std::size_t i = 0; i < kLeafRows; i += kLine / sizeof(std::uint32_t)) {
    hwy::Prefetch(places + i);
  }
}

std::size_t RowsNearPoint(const LeafStore& store, std::span<const std::uint32_t> leaves,
                          const double* query, double reach2, RowKey* out) {
  const Doubles tag;
  const Keys keys;
  const std::size_t lanes = hn::Lanes(tag);
  const auto limit = hn::Set(tag, reach2);
  RowKey* next = out;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    fetch_ahead(store, leaves, k);
    const std::uint32_t leaf = leaves[k];
    const double* values = store.values + leaf * store.dims * kLeafRows;
    for (std::size_t i = 0; i < kLeafRows; i += lanes) {
      const auto sum = squared_distances(values + i, store.dims, query);
      const auto inside = hn::Le(sum, limit);
      if (hn::AllFalse(tag, inside)) continue;
      const auto row = static_cast<std::uint32_t>(leaf * kLeafRows + i);
      next = append(keys_at(store.places + row, row), hn::RebindMask(keys, inside), next);
    }
  }
  return static_cast<std::size_t>(next - out);
}

using Floats = hn::CappedTag<float, 16>;

bool within_reach(const LeafStore& store, std::size_t row, const double* query, double reach2) {
  const double* values = store.values + row / kLeafRows * store.dims * kLeafRows + row % kLeafRows;
  double sum = 0.0;
  for (std::size_t j = 0; j < store.dims; ++j) {
    const double diff = values[j * kLeafRows] - query[j];
    sum += diff * diff;
  }
  return sum <= reach2;
}

std::size_t RowsNearPointScreened(const LeafStore& store, std::span<const std::uint32_t> leaves,
                                  const double* query, double reach2, const FloatScreen& screen,
                                  RowKey* out) {
  const Floats tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto sure_limit = hn::Set(tag, screen.sure);
  const auto out_limit = hn::Set(tag, screen.out);
  RowKey* next = out;
  for (const std::uint32_t leaf : leaves) {
    const float* values = store.floats + leaf * store.dims * kLeafRows;
    for (std::size_t i = 0; i < kLeafRows; i += lanes) {
      auto sum = hn::Zero(tag);
      for (std::size_t j = 0; j < store.dims; ++j) {
        const auto diff =
            hn::Sub(hn::LoadU(tag, values + j * kLeafRows + i), hn::Set(tag, screen.query[j]));
        sum = hn::MulAdd(diff, diff, sum);
      }
      // Not "at most out": NaN, from features too large for floats, must be tested again.
      const auto possible = hn::Not(hn::Gt(sum, out_limit));
      if (hn::AllFalse(tag, possible)) continue;
      std::uint8_t possible_bits[8] = {};
      std::uint8_t sure_bits[8] = {};
      hn::StoreMaskBits(tag, possible, possible_bits);
      hn::StoreMaskBits(tag, hn::Le(sum, sure_limit), sure_bits);
      Bits left = possible_bits[0] | (Bits{possible_bits[1]} << 8);
      const Bits sure = sure_bits[0] | (Bits{sure_bits[1]} << 8);
      for (; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const std::size_t row = leaf * kLeafRows + i + lane;
        if (((sure >> lane) & 1) != 0 || within_reach(store, row, query, reach2)) {
          *next++ = row_key(store.places[row], static_cast<std::uint32_t>(row));
        }
      }
    }
  }
  return static_cast<std::size_t>(next - out);
}

BoxCounts RowsNearBox(const LeafStore& store, std::span<const std::uint32_t> leaves,
                      const double* low, const double* high, double reach2, RowKey* sure,
                      RowKey* maybe) {
  const Doubles tag;
  const Keys keys;
  const std::size_t lanes = hn::Lanes(tag);
  const auto limit = hn::Set(tag, reach2);
  RowKey* next_sure = sure;
  RowKey* next_maybe = maybe;
  for (const std::uint32_t leaf : leaves) {
    const double* values = store.values + leaf * store.dims * kLeafRows;
    for (std::size_t i = 0; i < kLeafRows; i += lanes) {
      auto near = hn::Zero(tag);
      for (std::size_t j = 0; j < store.dims; ++j) {
        const auto x = hn::LoadU(tag, values + j * kLeafRows + i);
        const auto below = hn::Sub(hn::Set(tag, low[j]), x);
        const auto above = hn::Sub(x, hn::Set(tag, high[j]));
        const auto gap = hn::Max(hn::Max(below, above), hn::Zero(tag));
        near = hn::Add(near, hn::Mul(gap, gap));
      }
      const auto some = hn::Le(near, limit);
      if (hn::AllFalse(tag, some)) continue;
      auto far = hn::Zero(tag);
      for (std::size_t j = 0; j < store.dims; ++j) {
        const auto x = hn::LoadU(tag, values + j * kLeafRows + i);
        const auto span =
            hn::Max(hn::Sub(x, hn::Set(tag, low[j])), hn::Sub(hn::Set(tag, high[j]), x));
        far = hn::Add(far, hn::Mul(span, span));
      }
      const auto all = hn::Le(far, limit);
      const auto row = static_cast<std::uint32_t>(leaf * kLeafRows + i);
      const auto found = keys_at(store.places + row, row);
      next_sure = append(found, hn::RebindMask(keys, all), next_sure);
      next_maybe = append(found, hn::RebindMask(keys, hn::AndNot(all, some)), next_maybe);
    }
  }
  return {static_cast<std::size_t>(next_sure - sure), static_cast<std::size_t>(next_maybe - maybe)};
}

void MaskNear(const double* columns, std::size_t stride, std::size_t dims, std::size_t words,
              const double* query, double reach2, std::uint64_t* mask) {
  const Doubles tag;
  const std::size_t lanes = hn::Lanes(tag);
  const auto limit = hn::Set(tag, reach2);
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 64; i += 2 * lanes) {
      // Two vectors at a time: one chain of additions would leave the units waiting.
      auto first = hn::Zero(tag);
      auto second = hn::Zero(tag);
      const double* values = columns + w * 64 + i;
      for (std::size_t j = 0; j < dims; ++j, values += stride) {
        const auto at = hn::Set(tag, query[j]);
        const auto a = hn::Sub(hn::LoadU(tag, values), at);
        const auto b = hn::Sub(hn::LoadU(tag, values + lanes), at);
        first = hn::Add(first, hn::Mul(a, a));
        second = hn::Add(second, hn::Mul(b, b));
      }
      word |= std::uint64_t{bits_of(hn::Le(first, limit), 0)} << i;
      word |= std::uint64_t{bits_of(hn::Le(second, limit), 0)} << (i + lanes);
    }
    mask[w] = word;
  }
}

std::uint32_t CountBits(const std::uint64_t* mask, std::size_t words, std::uint32_t* before) {
  std::uint32_t count = 0;
  for (std::size_t w = 0; w < words; ++w) {
    before[w] = count;
    count += static_cast<std::uint32_t>(std::popcount(mask[w]));
  }
  before[words] = count;
  return count;
}

/// The bit of the mask with `before` bits below it.
HWY_INLINE unsigned select_bit(std::uint64_t mask, std::uint32_t before) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return static_cast<unsigned>(std::countr_zero(_pdep_u64(std::uint64_t{1} << before, mask)));
#else
  for (; before > 0; --before) mask &= mask - 1;
  return static_cast<unsigned>(std::countr_zero(mask));
#endif
}

void SelectBits(const std::uint64_t* mask, const std::uint32_t* before,
                std::span<const std::uint32_t> ranks, std::uint32_t* slots) {
  std::size_t w = 0;
  for (std::size_t j = 0; j < ranks.size(); ++j) {
    const std::uint32_t rank = ranks[j] - 1;
    while (before[w + 1] <= rank) ++w;
    slots[j] = static_cast<std::uint32_t>(64 * w) + select_bit(mask[w], rank - before[w]);
  }
}

void SelectRanks(const TwoLists& lists, std::span<const std::uint32_t> ranks,
                 std::uint32_t* slots) {
  // Rows of both lists before the first other row of word w.
  const auto rows_before = [&](std::size_t w) {
    return lists.before[w] + (w < lists.words ? lists.sure_before[64 * w] : lists.sure);
  };
  std::size_t w = 0;
  for (std::size_t j = 0; j < ranks.size(); ++j) {
    const std::uint32_t rank = ranks[j] - 1;
    if (lists.words == 0 || rank < rows_before(0)) {
      slots[j] = rank;
      continue;
    }
    while (rows_before(w + 1) <= rank) ++w;
    // The last row of the word with no more than `rank` rows before it, by halving.
    const std::uint64_t mask = lists.mask[w];
    const std::uint32_t* sure_before = lists.sure_before + 64 * w;
    const std::uint32_t before_word = lists.before[w];
    const auto others_before = [=](unsigned bit) {
      return before_word +
             static_cast<std::uint32_t>(std::popcount(mask & ((std::uint64_t{1} << bit) - 1)));
    };
    if (sure_before[0] == sure_before[63]) {
      // No sure row between these: the rank is a bit of the word, or a sure row after the last.
      const std::uint32_t nth = rank - before_word - sure_before[0];
      const auto in_word = lists.before[w + 1] - before_word;
      slots[j] = nth < in_word
                     ? lists.sure + static_cast<std::uint32_t>(64 * w) + select_bit(mask, nth)
                     : rank - before_word - in_word;
      continue;
    }
    unsigned bit = 0;
    for (unsigned step = 32; step > 0; step /= 2) {
      const unsigned next = bit + step;
      bit = sure_before[next] + others_before(next) <= rank ? next : bit;
    }
    const std::uint32_t others = others_before(bit);
    const auto in_reach = static_cast<std::uint32_t>((mask >> bit) & 1);
    const bool is_other = in_reach != 0 && sure_before[bit] + others == rank;
    slots[j] =
        is_other ? lists.sure + static_cast<std::uint32_t>(64 * w) + bit : rank - others - in_reach;
  }
}

void LeafDistances(const LeafStore& store, std::uint32_t leaf, const double* query, double* out) {
  const Doubles tag;
  const double* values = store.values + leaf * store.dims * kLeafRows;
  for (std::size_t i = 0; i < kLeafRows; i += hn::Lanes(tag)) {
    hn::StoreU(squared_distances(values + i, store.dims, query), tag, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tare
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tare {

HWY_EXPORT(FindBoxes);
HWY_EXPORT(BoxGaps);
HWY_EXPORT(RowsNearPoint);
HWY_EXPORT(RowsNearPointScreened);
HWY_EXPORT(RowsNearBox);
HWY_EXPORT(MaskNear);
HWY_EXPORT(CountBits);
HWY_EXPORT(SelectBits);
HWY_EXPORT(SelectRanks);
HWY_EXPORT(LeafDistances);

void find_boxes(const BoxLevels& tree, const double* low, const double* high, double reach2,
                std::vector<BoxId>& stack, std::vector<std::uint32_t>& leaves,
                std::vector<BoxId>& inside) {
  HWY_DYNAMIC_DISPATCH(FindBoxes)(tree, low, high, reach2, stack, leaves, inside);
}

void box_gaps(const BoxLevels& tree, std::uint32_t level, std::uint32_t first, const double* query,
              double out[kFan]) {
  HWY_DYNAMIC_DISPATCH(BoxGaps)(tree, level, first, query, out);
}

std::size_t rows_near_point(const LeafStore& store, std::span<const std::uint32_t> leaves,
                            const double* query, double reach2, RowKey* out) {
  return HWY_DYNAMIC_DISPATCH(RowsNearPoint)(store, leaves, query, reach2, out);
}

std::size_t rows_near_point_screened(const LeafStore& store, std::span<const std::uint32_t> leaves,
                                     const double* query, double reach2, const FloatScreen& screen,
                                     RowKey* out) {
  return HWY_DYNAMIC_DISPATCH(RowsNearPointScreened)(store, leaves, query, reach2, screen, out);
}

BoxCounts rows_near_box(const LeafStore& store, std::span<const std::uint32_t> leaves,
                        const double* low, const double* high, double reach2, RowKey* sure,
                        RowKey* maybe) {
  return HWY_DYNAMIC_DISPATCH(RowsNearBox)(store, leaves, low, high, reach2, sure, maybe);
}

void mask_near(const double* columns, std::size_t stride, std::size_t dims, std::size_t words,
               const double* query, double reach2, std::uint64_t* mask) {
  HWY_DYNAMIC_DISPATCH(MaskNear)(columns, stride, dims, words, query, reach2, mask);
}

std::uint32_t count_bits(const std::uint64_t* mask, std::size_t words, std::uint32_t* before) {
  return HWY_DYNAMIC_DISPATCH(CountBits)(mask, words, before);
}

void select_bits(const std::uint64_t* mask, const std::uint32_t* before,
                 std::span<const std::uint32_t> ranks, std::uint32_t* slots) {
  HWY_DYNAMIC_DISPATCH(SelectBits)(mask, before, ranks, slots);
}

void select_ranks(const TwoLists& lists, std::span<const std::uint32_t> ranks,
                  std::uint32_t* slots) {
  HWY_DYNAMIC_DISPATCH(SelectRanks)(lists, ranks, slots);
}

void leaf_distances(const LeafStore& store, std::uint32_t leaf, const double* query,
                    double out[kLeafRows]) {
  HWY_DYNAMIC_DISPATCH(LeafDistances)(store, leaf, query, out);
}

}  // namespace tare
#endif
