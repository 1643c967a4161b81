// SPDX-License-Identifier: BSD-3-Clause
#include "index/rank_window.h"

#include <array>
#include <bit>
#include <cassert>

#include "math/vector_targets.h"

namespace tare {
namespace {

constexpr std::size_t kWords = 8;  // of a block

struct Counts {
  const std::uint64_t* words;
  const std::uint32_t* blocks;
  const std::uint32_t* stretches;
};

/// Entry 8 b + k: the place of the bit of byte b that is set after k others.
constexpr std::array<std::uint8_t, 2048> make_bit_places() {
  std::array<std::uint8_t, 2048> places{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::size_t found = 0;
    for (std::size_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1U) != 0) places[8 * byte + found++] = static_cast<std::uint8_t>(bit);
    }
  }
  return places;
}
constexpr auto kBitPlaces = make_bit_places();

/// The place, from 0, of the rank-th bit that is set, from 1. Without branches: which half a bit
/// lies in cannot be foreseen.
inline std::uint32_t bit_of_rank(std::uint64_t word, std::uint32_t rank) {
  std::uint32_t at = 0;
  for (const std::uint32_t half : {32U, 16U, 8U}) {
    const std::uint64_t low = word & ((std::uint64_t{1} << half) - 1);
    const auto below = static_cast<std::uint32_t>(std::popcount(low));
    const std::uint32_t is_above = below < rank ? 1 : 0;
    rank -= is_above * below;
    at += is_above * half;
    word >>= is_above * half;
  }
  return at + kBitPlaces[8 * (word & 255U) + rank - 1];
}

/// Compiled for each instruction set, as counting bits is one instruction only on some.
TARE_VECTOR_TARGETS void select_ranks(const Counts& counts, const std::uint32_t* ranks,
                                      std::size_t count, std::uint32_t* out) {
  constexpr std::size_t kBlocks = 64;  // of a stretch
  std::size_t word = 0;
  std::uint32_t before = 0;  // those inside in earlier words
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint32_t rank = ranks[j];
    for (;; ++word) {
      while (word % kWords == 0 && before + counts.blocks[word / kWords] < rank) {
        const std::size_t stretch = word / (kWords * kBlocks);
        const bool skips =
            word % (kWords * kBlocks) == 0 && before + counts.stretches[stretch] < rank;
        before += skips ? counts.stretches[stretch] : counts.blocks[word / kWords];
        word += skips ? kWords * kBlocks : kWords;
      }
      const auto inside = static_cast<std::uint32_t>(std::popcount(counts.words[word]));
      if (before + inside >= rank) break;
      before += inside;
    }
    out[j] = static_cast<std::uint32_t>(64 * word) + bit_of_rank(counts.words[word], rank - before);
  }
}

}  // namespace

RankWindow::RankWindow(std::size_t places)
    : blocks_((places >> kBlockBits) + 1), stretches_((places >> kStretchBits) + 1) {
  words_.resize(blocks_.size() * kWords);
}

void RankWindow::select(std::span<const std::uint32_t> ranks, std::span<std::uint32_t> out) const {
  assert(ranks.size() == out.size());
  assert(ranks.empty() || (ranks.front() >= 1 && ranks.back() <= size_));
  if (ranks.empty()) return;
  select_ranks({words_.data(), blocks_.data(), stretches_.data()}, ranks.data(), ranks.size(),
               out.data());
}

}  // namespace tare
