// SPDX-License-Identifier: BSD-3-Clause
#include "index/rank_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tare/base/error.h"
#include "tare/base/rng.h"
#include "vector_targets.h"

namespace tare {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers random_positions(std::size_t rows, Rng& rng) {
  Numbers positions(rows);
  std::iota(positions.begin(), positions.end(), 0U);
  shuffle(std::span<std::uint32_t>(positions), rng);
  return positions;
}

/// The oracle: every place of the window, in ascending order, by looking at all of them.
Numbers places_inside(const Numbers& positions, std::uint32_t first, std::uint32_t last) {
  Numbers inside;
  for (std::uint32_t place = 0; place < positions.size(); ++place) {
    if (positions[place] >= first && positions[place] < last) inside.push_back(place);
  }
  return inside;
}

void expect_all_ranks(const RankBlocks& index, const Numbers& positions, std::uint32_t first,
                      std::uint32_t last) {
  static RankBlocks::Scratch scratch;  // one for all sizes, as a thread would have
  Numbers ranks(last - first);
  std::iota(ranks.begin(), ranks.end(), 1U);
  Numbers places(ranks.size());
  index.select(first, last, ranks, scratch, places);
  ASSERT_EQ(places, places_inside(positions, first, last))
      << positions.size() << " rows, from " << first << " to " << last;
}

/// As levels make them: some ranks, some of them several times.
void expect_some_ranks(const RankBlocks& index, const Numbers& positions, std::uint32_t first,
                       std::uint32_t last, std::size_t count, Rng& rng) {
  RankBlocks::Scratch scratch;
  Numbers ranks(count);
  for (auto& rank : ranks) rank = 1 + static_cast<std::uint32_t>(rng.below(last - first));
  std::sort(ranks.begin(), ranks.end());
  Numbers places(count);
  index.select(first, last, ranks, scratch, places);
  const Numbers inside = places_inside(positions, first, last);
  for (std::size_t j = 0; j < count; ++j) ASSERT_EQ(places[j], inside[ranks[j] - 1]);
}

std::pair<std::uint32_t, std::uint32_t> random_window(std::size_t rows, Rng& rng) {
  auto first = static_cast<std::uint32_t>(rng.below(rows + 1));
  auto last = static_cast<std::uint32_t>(rng.below(rows + 1));
  if (rng.below(2) == 0) last = first + static_cast<std::uint32_t>(rng.below(12));
  last = std::min(last, static_cast<std::uint32_t>(rows));
  return {std::min(first, last), std::max(first, last)};
}

TEST(RankBlocks, FindsEveryRankOfEveryWindowOfAFewRows) {
  Rng rng(Seed{1});
  for (std::size_t rows = 1; rows <= 20; ++rows) {
    const Numbers positions = random_positions(rows, rng);
    const RankBlocks index(positions);
    for (std::uint32_t first = 0; first <= rows; ++first) {
      for (std::uint32_t last = first; last <= rows; ++last) {
        expect_all_ranks(index, positions, first, last);
      }
    }
  }
}

TEST(RankBlocks, FindsEveryRankOfRandomWindows) {
  Rng rng(Seed{2});
  // Around the sizes of a bucket, of a block and of a row of the table.
  for (const std::size_t rows : {63U, 64U, 65U, 191U, 192U, 193U, 384U, 1000U, 1536U, 1537U, 5000U,
                                 12'288U, 12'289U, 40'000U}) {
    const Numbers positions = random_positions(rows, rng);
    const RankBlocks index(positions);
    const auto all = static_cast<std::uint32_t>(rows);
    expect_all_ranks(index, positions, 0, all);
    for (int repeat = 0; repeat < 12; ++repeat) {
      const auto [first, last] = random_window(rows, rng);
      expect_all_ranks(index, positions, first, last);
      expect_all_ranks(index, positions, 0, last);
      expect_all_ranks(index, positions, first, all);
    }
  }
}

TEST(RankBlocks, OrdersThatAreNotRandomAreNoTrap) {
  Numbers up(3000);
  std::iota(up.begin(), up.end(), 0U);
  const Numbers down(up.rbegin(), up.rend());
  Rng rng(Seed{3});
  for (const Numbers& positions : {up, down}) {  // whole buckets inside and outside the window
    const RankBlocks index(positions);
    for (int repeat = 0; repeat < 30; ++repeat) {
      const auto [first, last] = random_window(positions.size(), rng);
      expect_all_ranks(index, positions, first, last);
    }
  }
}

TEST(RankBlocks, RepeatedRanksOfAManyRowedLine) {
  Rng rng(Seed{4});
  const Numbers positions = random_positions(100'000, rng);
  const RankBlocks index(positions);
  for (const std::uint32_t width : {1U, 5U, 300U, 2000U, 10'000U, 100'000U}) {
    const auto first = static_cast<std::uint32_t>(rng.below(100'001 - width));
    expect_some_ranks(index, positions, first, first + width, 99, rng);
  }
}

TEST(RankBlocks, EveryVectorWidthFindsTheSame) {
  Rng rng(Seed{5});
  const Numbers positions = random_positions(2500, rng);
  const RankBlocks index(positions);
  on_every_vector_target([&] {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto [first, last] = random_window(positions.size(), rng);
      expect_all_ranks(index, positions, first, last);
    }
  });
}

TEST(RankBlocks, NoRowsNoAnswers) {
  const RankBlocks index(Numbers{});
  RankBlocks::Scratch scratch;
  index.select(0, 0, {}, scratch, {});
  EXPECT_EQ(index.rows(), 0U);
}

TEST(RankBlocks, PlacesAreTheInverseOfPositions) {
  Rng rng(Seed{6});
  const Numbers positions = random_positions(777, rng);
  const RankBlocks index(positions);
  ASSERT_EQ(index.places().size(), positions.size());
  for (std::uint32_t place = 0; place < positions.size(); ++place) {
    EXPECT_EQ(index.places()[positions[place]], place);
  }
}

TEST(RankBlocks, RefusesPositionsThatAreNotAPermutation) {
  EXPECT_THROW(RankBlocks(Numbers{0, 2}), Error);
  EXPECT_THROW(RankBlocks(Numbers{0, 0}), Error);
  EXPECT_THROW(RankBlocks(Numbers{1, 0xffffffff}), Error);
}

TEST(RankBlocks, TheTableIsSmallerThanThePositions) {
  Rng rng(Seed{7});
  const std::size_t rows = 300'000;
  const RankBlocks index(random_positions(rows, rng));
  EXPECT_LT(index.bytes(), 12 * rows);
}

}  // namespace
}  // namespace tare
