// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/cache_aligned.h"

namespace tare {

/// Where a row lies for the kernel. The first kNearDims coordinates say how large its error may be,
/// the others what its surroundings were; the last ones are for streams with a season.
inline constexpr std::size_t kKernelDims = 7;
inline constexpr std::size_t kNearDims = 2;
inline constexpr std::size_t kDimsWithoutSeason = 4;
using KernelPoint = std::array<float, kKernelDims>;

/// A *window* is a way to weigh rows: a Gaussian kernel on the first coordinates or on all of them
/// with one of four bandwidths, or no kernel; and without or with a discount of older rows, in this
/// order.
inline constexpr std::size_t kBandwidths = 4;
inline constexpr std::size_t kKernels = 2 * kBandwidths + 1;
inline constexpr std::size_t kWindows = 2 * kKernels;

/// Sums are taken over blocks of this many rows.
inline constexpr std::size_t kBlockRows = 64;

/// Columns of rows, in blocks. What follows the last row in its block lies far from every point,
/// with a recency of 0.
struct KernelRows {
  std::array<const float*, kKernelDims> point;
  const float* recency;
  const float* recency_sums;  // of each block
  std::size_t count;
  std::size_t dims;  // coordinates that count: kDimsWithoutSeason or kKernelDims

  static constexpr float kFarAway = 1e4F;  // no row is farther: squared distances are finite
};

/// Weights of rows for a point; reused from point to point.
struct KernelSums {
  AlignedVector<float> near;                         // of each row, with the largest bandwidth
  AlignedVector<float> around;                       // the same with all coordinates
  std::vector<std::array<double, kWindows>> blocks;  // sums up to the end of each block
  std::array<double, kWindows> totals = {};
};

/// The sums of recencies over the blocks from `begin` to `end`; those of all blocks are at `sums`.
void sum_recencies(const float* recency, std::size_t begin, std::size_t end, float* sums);

/// Needs a row.
void sum_kernels(const KernelRows& rows, const KernelPoint& at, KernelSums& sums);

}  // namespace tare
