// SPDX-License-Identifier: BSD-3-Clause
#include "index/kd_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "index/query_groups.h"
#include "index/row_key.h"
#include "index/shared_window.h"
#include "tare/base/rng.h"
#include "vector_targets.h"

namespace tare {
namespace {

struct Cloud {
  std::vector<double> columns;
  std::size_t rows;
  std::size_t dims;

  double squared(std::size_t place, std::span<const double> query) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < dims; ++j) {
      const double difference = columns[j * rows + place] - query[j];
      sum += difference * difference;
    }
    return sum;
  }
};

/// Every third cloud is a lattice: distances tie, and rows lie exactly on the rim.
Cloud random_cloud(Rng& rng, std::size_t rows, std::size_t dims) {
  Cloud cloud{std::vector<double>(rows * dims), rows, dims};
  const bool lattice = rng.below(3) == 0;
  for (double& value : cloud.columns) {
    value = lattice ? static_cast<double>(rng.below(5)) : rng.normal();
  }
  return cloud;
}

std::vector<double> random_point(Rng& rng, std::size_t dims) {
  std::vector<double> point(dims);
  for (double& value : point) value = rng.below(2) == 0 ? rng.normal() : 1.0;
  return point;
}

std::vector<std::uint32_t> places_of(std::span<const RowKey> keys) {
  std::vector<std::uint32_t> places;
  for (const RowKey key : keys) places.push_back(key_place(key));
  std::ranges::sort(places);
  return places;
}

void expect_rows_within_radius(Rng rng, int trials) {
  KdTree::Found found;
  for (int trial = 0; trial < trials; ++trial) {
    const Cloud cloud = random_cloud(rng, 1 + rng.below(900), 1 + rng.below(10));
    const KdTree tree(cloud.columns, cloud.rows, cloud.dims);
    const auto query = random_point(rng, cloud.dims);
    const double reach2 = std::vector{0.0, 0.3, 1.0, 2.0, 9.0, 100.0}[rng.below(6)];
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < cloud.rows; ++i) {
      if (cloud.squared(i, query) <= reach2) expected.push_back(static_cast<std::uint32_t>(i));
    }
    tree.near_point(query, reach2, found);
    ASSERT_EQ(places_of(found.sure.keys()), expected) << "trial " << trial;
    for (const RowKey key : found.sure.keys()) {
      ASSERT_EQ(tree.value(key_row(key), 0), cloud.columns[key_place(key)]);
    }
  }
}

void expect_nearest_distances(Rng rng, int trials) {
  KdTree::Nearest memory;
  for (int trial = 0; trial < trials; ++trial) {
    const Cloud cloud = random_cloud(rng, 1 + rng.below(900), 1 + rng.below(10));
    const KdTree tree(cloud.columns, cloud.rows, cloud.dims);
    const auto query = random_point(rng, cloud.dims);
    const std::size_t count = 1 + rng.below(cloud.rows + 5);
    std::vector<double> squares;
    for (std::size_t i = 0; i < cloud.rows; ++i) squares.push_back(cloud.squared(i, query));
    std::ranges::sort(squares);
    const double expected = squares[std::min(count, cloud.rows) - 1];
    EXPECT_EQ(tree.nearest(query, count, 1e299, memory), expected) << "trial " << trial;
    EXPECT_EQ(tree.nearest(query, count, 0.5, memory), std::min(expected, 0.5));
  }
}

TEST(KeySort, SortsByPlace) {
  Rng rng(Seed{3});
  KeyList keys;
  KeyList spare;
  for (const std::size_t count : {0U, 1U, 100U, 128U, 5'000U}) {
    for (const std::size_t places : {5'000U, 3'000'000U, 4'000'000'000U}) {
      std::vector<RowKey> expected;
      keys.clear();
      for (std::size_t i = 0; i < count; ++i) {
        expected.push_back(
            row_key(static_cast<std::uint32_t>(rng.below(places)), static_cast<std::uint32_t>(i)));
      }
      std::ranges::copy(expected, keys.room(count));
      keys.grow(count);
      std::ranges::sort(expected);
      sort_by_place(keys, places, spare);
      ASSERT_TRUE(std::ranges::equal(keys.keys(), expected)) << count << " of " << places;
    }
  }
}

TEST(QueryGroups, HoldEveryQueryOnceAndShareOnlyWhereQueriesAreNear) {
  Rng rng(Seed{4});
  for (const std::size_t dims : {1U, 2U, 4U, 8U}) {
    for (const std::size_t rows : {1U, 2U, 300U, 3'000U}) {
      Matrix queries(rows, dims);
      for (double& value : queries.values()) value = rng.uniform();
      const QueryGroups near = group_queries(queries, 10.0);
      const QueryGroups far = group_queries(queries, 1e-9);
      for (const QueryGroups* groups : {&near, &far}) {
        std::vector<int> seen(rows, 0);
        for (const std::uint32_t i : groups->order) ++seen[i];
        EXPECT_EQ(seen, std::vector<int>(rows, 1));
        std::uint32_t next = 0;
        for (const auto& group : groups->groups) {
          EXPECT_EQ(group.first, next);
          EXPECT_GT(group.last, group.first);
          next = group.last;
        }
        EXPECT_EQ(next, rows);
      }
      EXPECT_EQ(far.groups.size(), rows);
      EXPECT_LE(near.groups.size(), 1 + rows / 16);
    }
  }
}

void expect_ranks_in_shared_windows(Rng rng, int trials) {
  SharedWindow window;
  for (int trial = 0; trial < trials; ++trial) {
    const Cloud cloud = random_cloud(rng, 1 + rng.below(1'500), 1 + rng.below(6));
    const KdTree tree(cloud.columns, cloud.rows, cloud.dims);
    const std::size_t group = 1 + rng.below(12);
    const double spread = std::vector{0.0, 0.1, 1.0}[rng.below(3)];
    const auto centre = random_point(rng, cloud.dims);
    Matrix queries(group, cloud.dims);
    std::vector<std::uint32_t> members;
    for (std::size_t i = 0; i < group; ++i) {
      members.push_back(static_cast<std::uint32_t>(i));
      for (std::size_t j = 0; j < cloud.dims; ++j) {
        queries(i, j) = centre[j] + spread * rng.normal();
      }
    }
    const double reach2 = std::vector{0.3, 2.0, 9.0, 50.0}[rng.below(4)];
    window.open(tree, queries, members, reach2);
    for (std::size_t i = 0; i < group; ++i) {
      std::vector<std::uint32_t> expected;
      for (std::size_t p = 0; p < cloud.rows; ++p) {
        if (cloud.squared(p, queries.row(i)) <= reach2) {
          expected.push_back(static_cast<std::uint32_t>(p));
        }
      }
      ASSERT_EQ(window.look(queries.row(i)), expected.size()) << "trial " << trial;
      std::vector<std::uint32_t> ranks;
      for (std::size_t k = 1; k <= expected.size(); k += 1 + rng.below(3)) {
        ranks.push_back(static_cast<std::uint32_t>(k));
      }
      std::vector<std::uint32_t> slots(ranks.size());
      window.select(ranks, slots);
      for (std::size_t k = 0; k < ranks.size(); ++k) {
        ASSERT_EQ(window.place(slots[k]), expected[ranks[k] - 1]) << "trial " << trial;
      }
    }
  }
}

TEST(KdTree, FindsTheRowsWithinTheRadiusAndNoOthers) {
  expect_rows_within_radius(Rng(Seed{1}), 150);
}

TEST(KdTree, KnowsHowFarTheNearestAre) { expect_nearest_distances(Rng(Seed{2}), 150); }

TEST(SharedWindow, CountsAndRanksForEachQueryOfAGroup) {
  expect_ranks_in_shared_windows(Rng(Seed{5}), 120);
}

// The oracles compare to the bit, so this says that every width gives the same bits.
TEST(KdTree, EveryVectorWidthFindsTheSame) {
  on_every_vector_target([] {
    expect_rows_within_radius(Rng(Seed{6}), 25);
    expect_nearest_distances(Rng(Seed{7}), 25);
    expect_ranks_in_shared_windows(Rng(Seed{8}), 25);
  });
}

}  // namespace
}  // namespace tare
