// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/kernel_search.h"

#include <algorithm>
#include <array>

#include "online/snq/flush_denormals.h"
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
      for (std::size_t i = 0; i < kEight; ++i) raise_to_fourth(weights[i]);
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

/// A search within a block of rows.
struct InBlock {
  alignas(kBlockRows) float weights[kBlockRows];
  Half::Floats of_eights;
  float target;      // what is still to be reached
  std::size_t last;  // row
  std::size_t start = 0;
};

TARE_VECTOR_PART void weigh_block(const KernelRows& rows, const KernelSums& sums,
                                  const Sought& sought, std::size_t block, InBlock& in) {
  static_assert(kBlockRows == kEight * kEight);
  const std::size_t first = block * kBlockRows;
  const std::size_t kernel = sought.window / 2;
  const float* const base = (kernel < kBandwidths ? sums.near : sums.around).data() + first;
  Half::Floats weights[kEight];
  weigh_in_window(kernel == kNoKernel ? nullptr : base, kernel % kBandwidths,
                  sought.window % 2 == 1 ? rows.recency + first : nullptr, weights);
  for (std::size_t i = 0; i < kEight; ++i) store(weights[i], in.weights + i * kEight);
  add_lanes(weights, in.of_eights);
  in.last = std::min(rows.count - first, kBlockRows) - 1;
  in.target =
      static_cast<float>(sought.target - (block > 0 ? sums.blocks[block - 1][sought.window] : 0.0));
}

/// In three passes, as the steps of a search wait for each other, and those of different searches
/// do not.
TARE_VECTOR_TARGETS void find_in_blocks(const KernelRows& rows, const KernelSums& sums,
                                        std::span<const Sought> sought, const std::size_t* block,
                                        std::span<Reached> out) {
  constexpr std::size_t kTogether = 16;
  std::array<InBlock, kTogether> in;
  for (std::size_t done = 0; done < sought.size(); done += kTogether) {
    const std::size_t count = std::min(kTogether, sought.size() - done);
    for (std::size_t i = 0; i < count; ++i) {
      weigh_block(rows, sums, sought[done + i], block[done + i], in[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      in[i].start = kEight * first_to_reach(in[i].of_eights, in[i].last / kEight, in[i].target);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const InBlock& at = in[i];
      Half::Floats eight;
      load(at.weights + at.start, eight);
      float target = at.target;
      const std::size_t row =
          at.start + first_to_reach(eight, std::min(at.last - at.start, kEight - 1), target);
      out[done + i] = {block[done + i] * kBlockRows + row,
                       static_cast<double>(target) / static_cast<double>(at.weights[row])};
    }
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
  const FlushDenormals quick;  // the floor is added to each weight
  find_in_blocks(rows, sums, sought, block.data(), reached);
}

float window_weight(const KernelRows& rows, const KernelSums& sums, std::size_t window,
                    std::size_t row) {
  const std::size_t kernel = window / 2;
  const float old = window % 2 == 1 ? rows.recency[row] : 1.0F;
  if (kernel == kNoKernel) return old;
  float w = kernel < kBandwidths ? sums.near[row] : sums.around[row];
  for (std::size_t b = kernel % kBandwidths; b > 0; --b) raise_to_fourth(w);
  return (w + kFloor) * old;
}

}  // namespace tare
