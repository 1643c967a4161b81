// SPDX-License-Identifier: BSD-3-Clause
#include "index/rank_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/rank_blocks.cpp"
#include <hwy/foreach_target.h>  // compiles the part up to HWY_ONCE once per vector width
// after foreach_target.h
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#ifndef TARE_INDEX_RANK_BLOCKS_SHARED
#define TARE_INDEX_RANK_BLOCKS_SHARED
namespace tare::rank_blocks {

// A bucket's count fits a byte, so the table is a quarter of what it would be in whole words; and
// 192 positions are a few vectors of any width.
inline constexpr std::size_t kBucketPlaces = 192;
inline constexpr std::size_t kGroup = 8;    // counts that one addition steps over
inline constexpr std::size_t kStride = 64;  // bytes: rows of the table are whole vectors
static_assert(kBucketPlaces < 256);

/// What the vector code reads and writes.
struct Search {
  const std::uint32_t* positions;
  const std::uint8_t* counts;
  std::uint64_t* group_sums;
  std::size_t stride;
  std::uint32_t first;
  std::uint32_t last;
};

}  // namespace tare::rank_blocks
#endif

HWY_BEFORE_NAMESPACE();
namespace tare::rank_blocks::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// out = high - low modulo 256: the number of rows between two borders, in each bucket.
void subtract(const std::uint8_t* high, const std::uint8_t* low, std::uint8_t* out,
              std::size_t stride) {
  const hn::CappedTag<std::uint8_t, kStride> d;
  for (std::size_t i = 0; i < stride; i += hn::Lanes(d)) {
    hn::StoreU(hn::Sub(hn::LoadU(d, high + i), hn::LoadU(d, low + i)), d, out + i);
  }
}

/// Sums of eight neighbouring counts.
void sum_groups(const Search& search) {
#if HWY_TARGET == HWY_SCALAR  // has no vector of eight bytes
  for (std::size_t g = 0; g < search.stride / kGroup; ++g) {
    search.group_sums[g] = 0;
    for (std::size_t i = 0; i < kGroup; ++i) {
      search.group_sums[g] += search.counts[g * kGroup + i];
    }
  }
#else
  const hn::CappedTag<std::uint8_t, kStride> d;
  const hn::Repartition<std::uint64_t, decltype(d)> sums;
  for (std::size_t i = 0; i < search.stride; i += hn::Lanes(d)) {
    hn::StoreU(hn::SumsOf8(hn::LoadU(d, search.counts + i)), sums, search.group_sums + i / kGroup);
  }
#endif
}

/// The bucket of each rank, and the rank within it. Ranks ascend, so one walk finds all.
void find_buckets(const Search& search, const std::uint32_t* ranks, std::size_t count,
                  std::uint32_t* buckets, std::uint32_t* remainders) {
  std::size_t group = 0;
  std::uint32_t before = 0;  // rows in earlier groups
  for (std::size_t j = 0; j < count; ++j) {
    while (before + search.group_sums[group] < ranks[j]) {
      before += static_cast<std::uint32_t>(search.group_sums[group++]);
    }
    std::size_t bucket = group * kGroup;
    std::uint32_t rest = ranks[j] - before;
    while (search.counts[bucket] < rest) rest -= search.counts[bucket++];
    buckets[j] = static_cast<std::uint32_t>(bucket);
    remainders[j] = rest;
    hwy::Prefetch(search.positions + bucket * kBucketPlaces);
  }
}

/// The place of the rank-th row of the window in one bucket.
std::uint32_t place_in_bucket(const Search& search, std::uint32_t bucket, std::uint32_t rank) {
  const hn::CappedTag<std::uint32_t, 16> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const auto first = hn::Set(d, search.first);
  const auto width = hn::Set(d, search.last - search.first);
  const std::size_t begin = bucket * kBucketPlaces;
  for (std::size_t i = begin;; i += hn::Lanes(d)) {
    const auto inside = hn::Lt(hn::Sub(hn::LoadU(d, search.positions + i), first), width);
    const auto found = static_cast<std::uint32_t>(hn::CountTrue(d, inside));
    if (found >= rank) {
      HWY_ALIGN std::uint32_t lanes[kLanes];
      hn::Store(hn::Compress(hn::Iota(d, 0), inside), d, lanes);
      return static_cast<std::uint32_t>(i) + lanes[rank - 1];
    }
    rank -= found;
  }
}

void find_places(const Search& search, const std::uint32_t* ranks, std::size_t count,
                 std::uint32_t* buckets, std::uint32_t* remainders, std::uint32_t* out) {
  sum_groups(search);
  find_buckets(search, ranks, count, buckets, remainders);
  for (std::size_t j = 0; j < count; ++j) {
    out[j] = place_in_bucket(search, buckets[j], remainders[j]);
  }
}

}  // namespace tare::rank_blocks::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/fail.h"

namespace tare {
namespace rank_blocks {
HWY_EXPORT(subtract);
HWY_EXPORT(find_places);
}  // namespace rank_blocks

using rank_blocks::kBucketPlaces;
using rank_blocks::kGroup;
using rank_blocks::kStride;

namespace {

// More blocks cost memory, fewer cost time at the window's two ends: at a million rows a block has
// 1,954, and on average 977 rows are added or taken away by hand.
constexpr std::size_t kBlocks = 512;
constexpr std::size_t kLeastBlockRows = 64;
constexpr std::uint32_t kNowhere = 0xffffffff;  // in no window

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::vector<std::uint32_t> inverse_permutation(std::span<const std::uint32_t> positions) {
  std::vector<std::uint32_t> places(positions.size(), kNowhere);
  for (std::size_t place = 0; place < positions.size(); ++place) {
    const std::uint32_t position = positions[place];
    if (position >= positions.size() || places[position] != kNowhere) {
      fail(ErrorCode::kInvalidArgument, "position {} of {} rows is taken or out of range", position,
           positions.size());
    }
    places[position] = static_cast<std::uint32_t>(place);
  }
  return places;
}

/// Adds `step` to the counts of the rows at positions first, ..., last - 1.
void add_rows(std::span<const std::uint32_t> places, std::size_t first, std::size_t last, int step,
              std::uint8_t* counts) {
  for (std::size_t i = first; i < last; ++i) {
    std::uint8_t& count = counts[places[i] / kBucketPlaces];
    count = static_cast<std::uint8_t>(count + step);
  }
}

}  // namespace

RankBlocks::RankBlocks(std::span<const std::uint32_t> positions) {
  if (positions.size() >= kNowhere) {
    fail(ErrorCode::kInvalidArgument, "{} rows are too many for one line", positions.size());
  }
  places_ = inverse_permutation(positions);
  positions_.assign(round_up(positions.size(), kBucketPlaces), kNowhere);
  std::copy(positions.begin(), positions.end(), positions_.begin());
  fill_table();
}

void RankBlocks::fill_table() {
  stride_ = round_up(positions_.size() / kBucketPlaces, kStride);
  block_rows_ = std::max(kLeastBlockRows, (rows() + kBlocks - 1) / kBlocks);
  const std::size_t blocks = (rows() + block_rows_ - 1) / block_rows_;
  table_.assign((blocks + 1) * stride_, 0);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::uint8_t* row = table_.data() + (b + 1) * stride_;
    std::copy_n(row - stride_, stride_, row);
    add_rows(places_, b * block_rows_, std::min(rows(), (b + 1) * block_rows_), 1, row);
  }
}

std::size_t RankBlocks::bytes() const noexcept {
  return sizeof(std::uint32_t) * (positions_.size() + places_.size()) + table_.size();
}

/// Border b lies before position b * block_rows_; the last one at the end of the line.
std::size_t RankBlocks::nearest_border(std::uint32_t position) const {
  const std::size_t below = position / block_rows_;
  const std::size_t above = std::min(rows(), (below + 1) * block_rows_);
  return position - below * block_rows_ <= above - position ? below : below + 1;
}

void RankBlocks::count_window(std::uint32_t first, std::uint32_t last, Scratch& scratch) const {
  const std::size_t low = nearest_border(first);
  const std::size_t high = nearest_border(last);
  const std::size_t low_row = std::min(rows(), low * block_rows_);
  const std::size_t high_row = std::min(rows(), high * block_rows_);
  std::uint8_t* counts = scratch.counts.data();
  HWY_DYNAMIC_DISPATCH(rank_blocks::subtract)
  (table_.data() + high * stride_, table_.data() + low * stride_, counts, stride_);
  // Of each pair one range is empty.
  add_rows(places_, first, low_row, 1, counts);
  add_rows(places_, low_row, first, -1, counts);
  add_rows(places_, high_row, last, 1, counts);
  add_rows(places_, last, high_row, -1, counts);
}

void RankBlocks::select(std::uint32_t first, std::uint32_t last,
                        std::span<const std::uint32_t> ranks, Scratch& scratch,
                        std::span<std::uint32_t> out) const {
  assert(first <= last && last <= rows() && "a window outside the line");
  assert(ranks.size() == out.size() && std::is_sorted(ranks.begin(), ranks.end()));
  assert(ranks.empty() || (ranks.front() >= 1 && ranks.back() <= last - first));
  if (ranks.empty()) return;
  scratch.counts.resize(stride_);
  scratch.group_sums.resize(stride_ / kGroup);
  scratch.buckets.resize(ranks.size());
  scratch.remainders.resize(ranks.size());
  count_window(first, last, scratch);
  const rank_blocks::Search search = {
      positions_.data(), scratch.counts.data(), scratch.group_sums.data(), stride_, first, last};
  HWY_DYNAMIC_DISPATCH(rank_blocks::find_places)
  (search, ranks.data(), ranks.size(), scratch.buckets.data(), scratch.remainders.data(),
   out.data());
}

}  // namespace tare
#endif  // HWY_ONCE
