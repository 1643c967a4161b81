// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/kernel_search.h"

#include <algorithm>
#include <array>

#include "online/snq/kernel_lanes.h"

namespace tare {

using namespace kernel_lanes;

namespace {

constexpr std::size_t kNoKernel = kKernels - 1;

/// The weights of a block's rows in a window. `base` are those with the largest bandwidth; null
/// without a kernel. `recency` is null without a discount.
TARE_VECTOR_PART void weigh_in_window(const float* base, std::size_t bandwidth,
                                      const float* recency, Half::Floats* weights) {
  for (std::size_t i = 0; i < kEight; ++i) weights[i] = Half::Floats{} + 1.0F;
  if (base != nullptr) {
    for (std::size_t i = 0; i < kEight; ++i) load(base + i * kEight, weights[i]);
    for (std::size_t b = 0; b < bandwidth; ++b) {
      for (std::size_t i = 0; i < kEight; ++i) raise_to_fourth<Half>(weights[i]);
    }
    for (std::size_t i = 0; i < kEight; ++i) weights[i] += kFloor;
  }
  if (recency != nullptr) {
    for (std::size_t i = 0; i < kEight; ++i) {
      Half::Floats r;
      load(recency + i * kEight, r);
      weights[i] *= r;
    }
  }
}

/// Of eight numbers that are added one after the other, the first one with which the sum reaches
/// `target`, at most `last`. From the target what was there before it is subtracted; rounding must
/// not make it negative.
TARE_VECTOR_PART std::size_t first_to_reach(const Half::Floats& numbers, std::size_t last,
                                            float& target) {
  const Half::Floats none = {};
  Half::Floats up_to = numbers;
  up_to += __builtin_shufflevector(up_to, none, 8, 0, 1, 2, 3, 4, 5, 6);
  up_to += __builtin_shufflevector(up_to, none, 8, 8, 0, 1, 2, 3, 4, 5);
  up_to += __builtin_shufflevector(up_to, none, 8, 8, 8, 8, 0, 1, 2, 3);
  float before[kEight + 1];
  before[0] = 0.0F;
  store(up_to, before + 1);
  // How many are below the target, from the lanes of a comparison, which are 0 or -1. Without a
  // branch, which the processor could not foretell.
  const Half::Bits below = up_to < target;
  const auto fours = __builtin_shufflevector(below, below, 0, 1, 2, 3) +
                     __builtin_shufflevector(below, below, 4, 5, 6, 7);
  const auto count = static_cast<std::size_t>(-((fours[0] + fours[1]) + (fours[2] + fours[3])));
  const std::size_t at = std::min(count, last);
  target = std::max(target - before[at], 0.0F);
  return at;
}

/// The row within a block.
TARE_VECTOR_PART void find_in_block(const KernelRows& rows, const KernelSums& sums,
                                    const Sought& sought, std::size_t block, Reached& out) {
  static_assert(kBlockRows == kEight * kEight);
  const std::size_t first = block * kBlockRows;
  const std::size_t last = std::min(rows.count - first, kBlockRows) - 1;
  const std::size_t kernel = sought.window / 2;
  const float* const base = (kernel < kBandwidths ? sums.near : sums.around).data() + first;
  Half::Floats weights[kEight];
  weigh_in_window(kernel == kNoKernel ? nullptr : base, kernel % kBandwidths,
                  sought.window % 2 == 1 ? rows.recency + first : nullptr, weights);
  Half::Floats of_eights;
  add_lanes(weights, of_eights);
  auto target =
      static_cast<float>(sought.target - (block > 0 ? sums.blocks[block - 1][sought.window] : 0.0));
  const std::size_t eight = first_to_reach(of_eights, last / kEight, target);
  const std::size_t start = eight * kEight;
  const std::size_t row =
      first_to_reach(weights[eight], std::min(last - start, kEight - 1), target);
  out = {first + start + row,
         static_cast<double>(target) / static_cast<double>(weights[eight][row])};
}

TARE_VECTOR_TARGETS void find_in_blocks(const KernelRows& rows, const KernelSums& sums,
                                        std::span<const Sought> sought, const std::size_t* block,
                                        std::span<Reached> out) {
  for (std::size_t i = 0; i < sought.size(); ++i) {
    find_in_block(rows, sums, sought[i], block[i], out[i]);
  }
}

}  // namespace

void find_rows(const KernelRows& rows, const KernelSums& sums, std::span<const Sought> sought,
               std::span<Reached> reached) {
  // The first block whose end reaches the target, or the last one.
  std::array<std::size_t, kSearchesAtOnce> block = {};
  for (std::size_t left = sums.blocks.size(); left > 1;) {
    const std::size_t half = left / 2;
    for (std::size_t i = 0; i < sought.size(); ++i) {
      const double up_to = sums.blocks[block[i] + half - 1][sought[i].window];
      // A product instead of a branch that the processor could not foretell.
      block[i] += half * static_cast<std::size_t>(up_to < sought[i].target);
    }
    left -= half;
  }
  find_in_blocks(rows, sums, sought, block.data(), reached);
}

float window_weight(const KernelRows& rows, const KernelSums& sums, std::size_t window,
                    std::size_t row) {
  const std::size_t kernel = window / 2;
  const float old = window % 2 == 1 ? rows.recency[row] : 1.0F;
  if (kernel == kNoKernel) return old;
  float w = kernel < kBandwidths ? sums.near[row] : sums.around[row];
  for (std::size_t b = kernel % kBandwidths; b > 0; --b) {
    w = std::max(w, kSmallestBase);
    w *= w;
    w *= w;
  }
  return (w + kFloor) * old;
}

}  // namespace tare
