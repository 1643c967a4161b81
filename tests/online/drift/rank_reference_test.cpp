// SPDX-License-Identifier: BSD-3-Clause
#include "online/drift/rank_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "draws.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

using Cells = std::vector<std::size_t>;
using CellWeights = std::map<Cells, double>;

/// Which scores leave a full reference.
enum class Leaving { kAnyScore, kTheNewScore };

/// Cuts (0, 1) into as many cells as there are scores to compare, at each row, and adds up the
/// probability of each sequence of cells: over the places of ties, which are integrated exactly,
/// and over the scores that leave.
void add_cells(const RankReference& reference, std::size_t most, std::span<const double> rest,
               Leaving leaving, Cells& cells, double weight, CellWeights& weights) {
  if (rest.empty()) {
    weights[cells] += weight;
    return;
  }
  const std::size_t all = reference.size() + 1;
  RankReference at_ends = reference;
  const double low = at_ends.place(rest[0], {.tie = 1e-12, .removed = 0}).below;
  at_ends = reference;
  const double high = at_ends.place(rest[0], {.tie = 1.0 - 1e-12, .removed = 0}).below;
  const auto first = static_cast<std::size_t>(std::lround(low * static_cast<double>(all)));
  const auto last = static_cast<std::size_t>(std::lround(high * static_cast<double>(all)));
  std::vector<std::size_t> removals = {0};
  if (reference.size() == most && leaving == Leaving::kAnyScore) {
    for (std::size_t k = 1; k < all; ++k) removals.push_back(k);
  } else if (reference.size() == most) {
    removals = {last - 1};  // a new score goes behind those that are equal
  }
  for (const std::size_t removed : removals) {
    RankReference next = reference;
    next.place(rest[0], {.tie = 0.5, .removed = removed});
    for (std::size_t cell = first; cell < last; ++cell) {
      cells.push_back(cell);
      add_cells(next, most, rest.subspan(1), leaving, cells,
                weight / static_cast<double>((last - first) * removals.size()), weights);
      cells.pop_back();
    }
  }
}

/// Over all orders of the scores, of which equal ones are not distinguished.
CellWeights weights_of_cells(std::vector<double> scores, std::size_t most, Leaving leaving) {
  std::ranges::sort(scores);
  CellWeights weights;
  double orders = 0.0;
  do {
    Cells cells;
    add_cells(RankReference(most), most, scores, leaving, cells, 1.0, weights);
    ++orders;
  } while (std::ranges::next_permutation(scores).found);
  for (auto& [cell, weight] : weights) weight /= orders;
  return weights;
}

std::size_t cells_of_rows(std::size_t rows, std::size_t most) {
  std::size_t product = 1;
  for (std::size_t row = 0; row < rows; ++row) product *= std::min(row, most) + 1;
  return product;
}

TEST(RankReference, EveryOrderOfDistinctScoresHasItsOwnRanks) {
  std::vector<double> scores = {-3.0, -1.0, 0.5, 2.0, 8.0};
  std::set<std::vector<double>> seen;
  do {
    RankReference reference(100);
    std::vector<double> places;
    for (const double score : scores) places.push_back(reference.place(score, {}).below);
    seen.insert(places);
  } while (std::ranges::next_permutation(scores).found);
  EXPECT_EQ(seen.size(), 120u);
}

TEST(RankReference, PlacesAreUniformAndIndependentOverAllOrders) {
  // All sequences of cells are equally likely, also with ties and where scores leave.
  const std::vector<std::vector<double>> bags = {
      {1, 2, 3, 4, 5, 6}, {1, 1, 2, 2, 2}, {1, 2, 2, 3, 3}, {7, 7, 7, 7, 7}};
  for (const std::vector<double>& bag : bags) {
    for (const std::size_t most : {1u, 2u, 3u, 100u}) {
      const CellWeights weights = weights_of_cells(bag, most, Leaving::kAnyScore);
      const std::size_t cells = cells_of_rows(bag.size(), most);
      ASSERT_EQ(weights.size(), cells);
      const double each = 1.0 / static_cast<double>(cells);
      for (const auto& [cell, weight] : weights) EXPECT_NEAR(weight, each, 1e-12);
    }
  }
}

TEST(RankReference, PlacesAmongFrozenRowsAreDependent) {
  // Why the new score must be able to leave: otherwise the same first scores are used again.
  const CellWeights weights = weights_of_cells({1, 2, 3, 4, 5, 6}, 3, Leaving::kTheNewScore);
  const Cells all_on_top = {0, 0, 0, 3, 3, 3};
  const double each = 1.0 / static_cast<double>(cells_of_rows(6, 3));
  EXPECT_GT(weights.at(all_on_top), 2.0 * each);
}

TEST(RankReference, AgreesWithCountingInAnUnsortedList) {
  Rng rng(Seed{4});
  for (std::uint64_t draw = 0; draw < draws(100); ++draw) {
    const std::size_t most = 1 + rng.below(30);
    const std::uint64_t distinct = 1 + rng.below(50);
    RankReference reference(most);
    std::vector<double> list;
    for (int row = 0; row < 100; ++row) {
      const double score = static_cast<double>(rng.below(distinct)) - 5.0;
      const RankDraw random = {rng.uniform(0.01, 0.99), rng.below(list.size() + 1)};
      const RankPlace place = reference.place(score, random);
      const auto smaller = static_cast<double>(
          std::ranges::count_if(list, [&](double other) { return other < score; }));
      const auto equal = static_cast<double>(std::ranges::count(list, score)) + 1.0;
      const auto all = static_cast<double>(list.size()) + 1.0;
      EXPECT_NEAR(place.below, (smaller + random.tie * equal) / all, 1e-14);
      EXPECT_NEAR(place.above, 1.0 - place.below, 1e-14);
      const bool full = list.size() == most;
      list.push_back(score);
      std::ranges::sort(list);
      if (full) list.erase(list.begin() + static_cast<std::ptrdiff_t>(random.removed));
      ASSERT_TRUE(std::ranges::equal(reference.sorted(), list));
    }
  }
}

TEST(RankReference, PlacesAreStrictlyInsideWithTheMostExtremeDraws) {
  RankReference reference(1000);
  for (int row = 0; row < 1000; ++row) {
    const double tie = row % 2 == 0 ? 0x1.0p-53 : 1.0 - 0x1.0p-53;
    const RankPlace place = reference.place(row % 2 == 0 ? -row : row, {.tie = tie});
    EXPECT_GT(place.below, 0.0);
    EXPECT_GT(place.above, 0.0);
  }
}

}  // namespace
}  // namespace tare
