// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cache_aligned.h"

namespace tare {

/// Rows in two orders: finds the k-th row in one order among the rows of a window of the other
/// order, at a cost that does not grow with the window.
///
/// A row's `position` is its index on the line (the order of the one feature); its `place` is its
/// index in the order of residuals. Places are cut into buckets of 192, positions into about 512
/// blocks, and a table says how many rows of each bucket lie before each block. The counts of a
/// window are the difference of two of its rows, corrected by the few rows between a block's border
/// and the window's. A walk along the counts finds a rank's bucket, and a scan of its 192 positions
/// the place.
///
/// Memory: 8 bytes a row for the two orders, less than 3 for the table, and half a megabyte.
class RankBlocks {
 public:
  /// Reused from query to query, one per thread.
  struct Scratch {
    AlignedVector<std::uint8_t> counts;       // rows of the window in each bucket
    AlignedVector<std::uint64_t> group_sums;  // of eight counts
    std::vector<std::uint32_t> buckets;       // of each rank
    std::vector<std::uint32_t> remainders;    // the rank within its bucket, from 1
  };

  RankBlocks() = default;
  /// positions[place]: each of 0, ..., n - 1 once, else throws kInvalidArgument. n < 2^32.
  explicit RankBlocks(std::span<const std::uint32_t> positions);

  std::size_t rows() const noexcept { return places_.size(); }
  /// places()[position]: the other way round.
  std::span<const std::uint32_t> places() const noexcept { return places_; }
  std::size_t bytes() const noexcept;

  /// out[j] = the place that is ranks[j]-th smallest among the rows with first <= position < last.
  /// Ranks never fall, and lie in 1, ..., last - first; last <= rows().
  void select(std::uint32_t first, std::uint32_t last, std::span<const std::uint32_t> ranks,
              Scratch& scratch, std::span<std::uint32_t> out) const;

 private:
  void fill_table();
  std::size_t nearest_border(std::uint32_t position) const;
  void count_window(std::uint32_t first, std::uint32_t last, Scratch& scratch) const;

  AlignedVector<std::uint32_t> positions_;  // by place, filled up to whole buckets
  std::vector<std::uint32_t> places_;       // by position
  AlignedVector<std::uint8_t> table_;       // rows of `stride_` counts, one per border of blocks
  std::size_t stride_ = 0;
  std::size_t block_rows_ = 1;
};

}  // namespace tare
