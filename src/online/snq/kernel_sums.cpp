// SPDX-License-Identifier: BSD-3-Clause
#include "online/snq/kernel_sums.h"

#include <algorithm>
#include <cstring>
#include <numbers>

#include "base/vector_limit.h"
#include "math/power_of_two.h"
#include "online/snq/flush_denormals.h"
#include "online/snq/kernel_lanes.h"

namespace tare {

using namespace kernel_lanes;

namespace {

/// The largest bandwidth, in units of the coordinates; each following one is half of it, so that
/// its weights are fourth powers.
constexpr float kLargestBandwidth = 2.8F;
/// 2 to the power of this times a squared distance is the weight.
constexpr float kExponent =
    -0.5F * std::numbers::log2e_v<float> / (kLargestBandwidth * kLargestBandwidth);
constexpr float kMostSquares = kSmallestExponent / kExponent;

/// Columns of a block, and where its weights go.
struct KernelBlock {
  const float* const* point;
  const float* recency;
  float* near;
  float* around;
};

/// The sums over a block, in the order of windows, without the floor.
struct BlockSums {
  Half::Floats near;
  Half::Floats around;
};

/// Adds the squared distances of rows from a point in some coordinates; those in the first one are
/// put there.
template <class V>
TARE_VECTOR_PART void add_squares(const KernelBlock& block, std::size_t row, const float* at,
                                  std::size_t begin, std::size_t end, typename V::Floats& squares) {
  for (std::size_t j = begin; j < end; ++j) {
    typename V::Floats d;
    load(block.point[j] + row, d);
    d -= at[j];
    if (j == 0) {
      squares = d * d;
    } else {
      squares += d * d;
    }
  }
}

/// Replaces squared distances by weights.
template <class V, std::size_t kCount>
TARE_VECTOR_PART void to_weights(typename V::Floats (&w)[kCount]) {
#ifdef TARE_WIDE_ASSEMBLY
  if constexpr (V::kCount == kLanes) {
    for (auto& squares : w) squares *= kExponent;
    to_powers_of_two<WholeByInstruction>(w);
    return;
  }
#endif
  for (auto& squares : w) {
    keep_below<V>(squares, kMostSquares);
    squares *= kExponent;
  }
  to_powers_of_two<WholeByBits<typename V::Floats, typename V::Bits>>(w);
}

/// The weights of a block's rows.
template <class V, std::size_t kDims>
TARE_VECTOR_PART void weigh_block(const KernelBlock& block, const float* at) {
  constexpr std::size_t kTogether = 4;  // vectors; fewer leave the processor waiting
  for (std::size_t row = 0; row < kBlockRows; row += kTogether * V::kCount) {
    typename V::Floats w[2 * kTogether];
    for (std::size_t k = 0; k < kTogether; ++k) {
      typename V::Floats& near = w[k];
      typename V::Floats& around = w[kTogether + k];
      add_squares<V>(block, row + k * V::kCount, at, 0, kNearDims, near);
      around = near;
      add_squares<V>(block, row + k * V::kCount, at, kNearDims, kDims, around);
    }
    to_weights<V>(w);
    for (std::size_t k = 0; k < kTogether; ++k) {
      store(w[k], block.near + row + k * V::kCount);
      store(w[kTogether + k], block.around + row + k * V::kCount);
    }
  }
}

enum class Into { kEmpty, kSums };

/// Adds the weights of rows to the sums of all bandwidths, without and with the discount.
template <class V, Into kInto>
TARE_VECTOR_PART void add_bandwidths(const float* weights, const float* recency,
                                     typename V::Floats* sums) {
  typename V::Floats w;
  typename V::Floats r;
  load(weights, w);
  load(recency, r);
  for (std::size_t b = 0; b < kBandwidths; ++b) {
    if (b > 0) raise_to_fourth(w);
    if constexpr (kInto == Into::kEmpty) {
      sums[2 * b] = w;
      sums[2 * b + 1] = w * r;
    } else {
      sums[2 * b] += w;
      sums[2 * b + 1] += w * r;
    }
  }
}

/// The sum of the two halves of all lanes.
TARE_VECTOR_PART void join_halves(const Wide::Floats& v, Half::Floats& out) {
  out = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}

/// The sums of weights over a block, in the order of windows.
template <class V>
TARE_VECTOR_PART void add_weights(const float* weights, const float* recency, Half::Floats& out) {
  static_assert(2 * kBandwidths == kEight);
  constexpr std::size_t kParts = kLanes / V::kCount;
  typename V::Floats sums[kParts][kEight];
  for (std::size_t part = 0; part < kParts; ++part) {
    std::size_t row = part * V::kCount;
    add_bandwidths<V, Into::kEmpty>(weights + row, recency + row, sums[part]);
    for (row += kLanes; row < kBlockRows; row += kLanes) {
      add_bandwidths<V, Into::kSums>(weights + row, recency + row, sums[part]);
    }
  }
  Half::Floats joined[kEight];
  for (std::size_t w = 0; w < kEight; ++w) {
    if constexpr (V::kCount == kLanes) {
      join_halves(sums[0][w], joined[w]);
    } else {
      joined[w] = sums[0][w] + sums[1][w];
    }
  }
  add_lanes(joined, out);
}

/// The weights of a block's rows, and their sums. First all weights and then the sums: the long
/// chains of operations of one row would leave the processor no room for those of the next.
template <class V, std::size_t kDims>
TARE_VECTOR_PART void sum_block(const KernelBlock& block, const float* at, BlockSums& out) {
  weigh_block<V, kDims>(block, at);
  add_weights<V>(block.near, block.recency, out.near);
  add_weights<V>(block.around, block.recency, out.around);
}

template <class V, std::size_t kDims>
TARE_VECTOR_PART void weigh_rows(const KernelRows& rows, const KernelPoint& at, KernelSums& out) {
  constexpr std::size_t kOfKernels = kWindows - 2;
  double totals[kWindows] = {};
  for (std::size_t k = 0; k < out.blocks.size(); ++k) {
    const std::size_t first = k * kBlockRows;
    const float* point[kDims];
    for (std::size_t j = 0; j < kDims; ++j) point[j] = rows.point[j] + first;
    BlockSums sums;
    sum_block<V, kDims>(
        {point, rows.recency + first, out.near.data() + first, out.around.data() + first},
        at.data(), sums);
    float of_windows[kOfKernels];
    store(sums.near, of_windows);
    store(sums.around, of_windows + kEight);
    // The floor is the same for all rows, so it is added to the sum.
    const auto count = static_cast<double>(std::min(kBlockRows, rows.count - first));
    const auto recent = static_cast<double>(rows.recency_sums[k]);
    const double floors[2] = {static_cast<double>(kFloor) * count,
                              static_cast<double>(kFloor) * recent};
    for (std::size_t w = 0; w < kOfKernels; ++w) {
      totals[w] += static_cast<double>(of_windows[w]) + floors[w % 2];
    }
    totals[kOfKernels] += count;
    totals[kOfKernels + 1] += recent;
    std::copy_n(totals, kWindows, out.blocks[k].begin());
  }
}

template <class V>
TARE_VECTOR_PART void weigh(const KernelRows& rows, const KernelPoint& at, KernelSums& out) {
  if (rows.dims == kDimsWithoutSeason) {
    weigh_rows<V, kDimsWithoutSeason>(rows, at, out);
  } else {
    weigh_rows<V, kKernelDims>(rows, at, out);
  }
}

#ifdef TARE_WIDE_TARGET
TARE_WIDE_TARGET void weigh_wide(const KernelRows& rows, const KernelPoint& at, KernelSums& out) {
  weigh<Wide>(rows, at, out);
}
#endif

TARE_VECTOR_TARGETS void weigh_half(const KernelRows& rows, const KernelPoint& at,
                                    KernelSums& out) {
  weigh<Half>(rows, at, out);
}

void weigh_all(const KernelRows& rows, const KernelPoint& at, KernelSums& out) {
#ifdef TARE_WIDE_TARGET
  if (has_wide_vectors()) return weigh_wide(rows, at, out);
#endif
  weigh_half(rows, at, out);
}

/// Eight blocks at a time, so that few operations are about a single number.
TARE_VECTOR_TARGETS void add_recencies(const float* recency, std::size_t begin, std::size_t end,
                                       float* sums) {
  for (std::size_t first = begin; first < end; first += kEight) {
    const std::size_t count = std::min(kEight, end - first);
    Half::Floats joined[kEight] = {};
    for (std::size_t k = 0; k < count; ++k) {
      Half::Floats lanes[kLanes / kEight] = {};
      for (std::size_t row = 0; row < kBlockRows; row += kEight) {
        Half::Floats r;
        load(recency + (first + k) * kBlockRows + row, r);
        lanes[row % kLanes / kEight] += r;
      }
      joined[k] = lanes[0] + lanes[1];
    }
    Half::Floats added;
    add_lanes(joined, added);
    std::memcpy(sums + first, &added, count * sizeof(float));
  }
}

}  // namespace

void sum_recencies(const float* recency, std::size_t begin, std::size_t end, float* sums) {
  add_recencies(recency, begin, end, sums);
}

void sum_kernels(const KernelRows& rows, const KernelPoint& at, KernelSums& sums) {
  const std::size_t blocks = (rows.count + kBlockRows - 1) / kBlockRows;
  sums.near.resize(blocks * kBlockRows);
  sums.around.resize(blocks * kBlockRows);
  sums.blocks.resize(blocks);
  const FlushDenormals quick;  // their sums are less than a rounding error of the floor
  weigh_all(rows, at, sums);
  sums.totals = sums.blocks.back();
}

}  // namespace tare
