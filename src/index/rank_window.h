// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tare {

/// A subset of the places 0, ..., n - 1: rows enter and leave one by one, and any number of ranks
/// among those inside is found in one pass. For windows that move along a line and differ by few
/// rows; RankBlocks is for windows that have nothing in common.
///
/// A bit for each place, the number of bits in each 512, and in each 32,768.
class RankWindow {
 public:
  /// Empty, of n places.
  explicit RankWindow(std::size_t places);

  /// The place is not inside.
  void add(std::uint32_t place) { change(place, 1); }
  /// The place is inside.
  void remove(std::uint32_t place) { change(place, 0xffffffff); }
  std::size_t size() const noexcept { return size_; }

  /// out[j] = the place that is ranks[j]-th smallest of those inside. Ranks never fall and lie in
  /// 1, ..., size().
  void select(std::span<const std::uint32_t> ranks, std::span<std::uint32_t> out) const;

 private:
  static constexpr std::size_t kWordBits = 6;      // log2 of places in a word,
  static constexpr std::size_t kBlockBits = 9;     // in a block,
  static constexpr std::size_t kStretchBits = 15;  // and in a stretch

  void change(std::uint32_t place, std::uint32_t by) {
    words_[place >> kWordBits] ^= std::uint64_t{1} << (place & 63U);
    blocks_[place >> kBlockBits] += by;  // modulo 2^32
    stretches_[place >> kStretchBits] += by;
    size_ += by;
  }

  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> blocks_;
  std::vector<std::uint32_t> stretches_;
  std::uint32_t size_ = 0;
};

}  // namespace tare
