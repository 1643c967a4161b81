// SPDX-License-Identifier: BSD-3-Clause
#include "index/rank_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// The oracle is a sorted set: all ranks of the window are its members in order.
void expect_members(const RankWindow& window, const std::set<std::uint32_t>& inside) {
  ASSERT_EQ(window.size(), inside.size());
  std::vector<std::uint32_t> ranks(inside.size());
  std::iota(ranks.begin(), ranks.end(), 1U);
  std::vector<std::uint32_t> places(ranks.size());
  window.select(ranks, places);
  ASSERT_EQ(places, std::vector<std::uint32_t>(inside.begin(), inside.end()));
}

TEST(RankWindow, RowsThatComeAndGoKeepTheirRanks) {
  // Below and above a word, a block and a stretch of places.
  for (const std::size_t places : {1U, 63U, 64U, 65U, 511U, 512U, 513U, 5'000U, 40'000U}) {
    RankWindow window(places);
    std::set<std::uint32_t> inside;
    Rng rng(Seed{places});
    for (int step = 0; step < 3'000; ++step) {
      const auto place = static_cast<std::uint32_t>(rng.below(places));
      if (inside.erase(place) == 1) {
        window.remove(place);
      } else {
        inside.insert(place);
        window.add(place);
      }
      if (step % 500 == 499) expect_members(window, inside);
    }
  }
}

TEST(RankWindow, FullAndEmpty) {
  constexpr std::uint32_t kPlaces = 70'000;  // three stretches, each bit set
  RankWindow window(kPlaces);
  window.select({}, {});
  for (std::uint32_t place = 0; place < kPlaces; ++place) window.add(place);
  for (std::uint32_t rank = 1; rank <= kPlaces; rank += 97) {
    std::uint32_t found = 0;
    window.select({&rank, 1}, {&found, 1});  // alone: the walk starts from the front
    ASSERT_EQ(found, rank - 1);
  }
  for (std::uint32_t place = 0; place < kPlaces; ++place) window.remove(place);
  EXPECT_EQ(window.size(), 0U);
}

TEST(RankWindow, ARankMayBeAskedTwice) {
  RankWindow window(1'000);
  for (const std::uint32_t place : {3U, 500U, 999U}) window.add(place);
  const std::vector<std::uint32_t> ranks = {1, 1, 2, 3, 3};
  std::vector<std::uint32_t> found(ranks.size());
  window.select(ranks, found);
  EXPECT_EQ(found, (std::vector<std::uint32_t>{3, 3, 500, 999, 999}));
}

}  // namespace
}  // namespace tare
