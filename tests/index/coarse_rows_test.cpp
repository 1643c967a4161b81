// SPDX-License-Identifier: BSD-3-Clause
#include "index/coarse_rows.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "index/box_order.h"
#include "index/brute_force.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

struct Rows {
  std::vector<double> columns;
  std::size_t rows;
  std::size_t dims;
};

/// Normal rows, rows on a lattice (many at the very radius), rows far from the origin, or clusters.
Rows draw_rows(Rng& rng, std::size_t rows, std::size_t dims, int texture) {
  Rows drawn{std::vector<double>(rows * dims), rows, dims};
  for (double& value : drawn.columns) {
    value = rng.normal();
    if (texture == 1) value = std::floor(4.0 * value) / 4.0;
    if (texture == 2) value += 1e7;
    if (texture == 3 && rng.below(2) == 0) value = 0.001 * value + 2.0;
  }
  return drawn;
}

/// Some on rows, some beside them, some outside the box of all rows in one feature or in all.
Matrix draw_queries(Rng& rng, const Rows& from, std::size_t count) {
  Matrix queries(count, from.dims);
  for (std::size_t q = 0; q < count; ++q) {
    const std::size_t near = rng.below(from.rows);
    const double beside = rng.below(2) == 0 ? 0.0 : 0.2;
    for (std::size_t j = 0; j < from.dims; ++j) {
      queries(q, j) = from.columns[j * from.rows + near] + beside * rng.normal();
    }
    if (q % 7 == 3) queries(q, rng.below(from.dims)) += 3.0;
    if (q % 11 == 5) queries(q, 0) = 1e200;
  }
  return queries;
}

/// What lies within reach by the distances of BruteForce. Returns how many rows do.
std::size_t expect_near(const Rows& from, MatrixView queries, double radius,
                        const CoarseRows& coarse) {
  CoarseRows::Scratch scratch;
  std::vector<std::uint64_t> masks(queries.rows() * coarse.words(), ~std::uint64_t{0});
  coarse.near(queries, radius * radius, scratch, masks);
  const BruteForce brute(Buffer<double>(std::vector<double>(from.columns)), from.rows, from.dims);
  std::vector<double> squared(from.rows);
  std::size_t found = 0;
  for (std::size_t q = 0; q < queries.rows(); ++q) {
    brute.squared_distances(queries.row(q), squared);
    for (std::size_t i = 0; i < 64 * coarse.words(); ++i) {
      const bool near = ((masks[q * coarse.words() + i / 64] >> (i % 64)) & 1) != 0;
      const bool expected = i < from.rows && squared[i] <= radius * radius;
      EXPECT_EQ(near, expected) << "row " << i << " of " << from.rows << ", query " << q << ", "
                                << from.dims << " features";
      if (near != expected) return found;
      found += expected ? 1 : 0;
    }
  }
  return found;
}

void compare_with_brute_force(std::uint64_t seed, int trials) {
  Rng rng(Seed{seed});
  std::size_t found = 0;
  int served = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const std::size_t dims = 1 + rng.below(trial % 5 == 0 ? 40 : 9);
    const std::size_t rows = 1 + rng.below(trial % 3 == 0 ? 10 : 700);
    const Rows from = draw_rows(rng, rows, dims, trial / 2 % 4);
    const auto arrangement =
        trial % 2 == 0 ? CoarseRows::Arrangement::kByPlace : CoarseRows::Arrangement::kInBoxes;
    const CoarseRows coarse(from.columns, rows, dims, arrangement);
    const Matrix queries = draw_queries(rng, from, 1 + rng.below(11));
    for (const double radius : {0.25, 0.75, 1.0, 2.5, 6.0}) {
      if (!coarse.serves(radius)) continue;
      ++served;
      found += expect_near(from, queries, radius, coarse);
    }
  }
  EXPECT_GT(served, 3 * trials);
  EXPECT_GT(found, 100U * static_cast<std::size_t>(trials));
}

TEST(CoarseRows, FindWhatBruteForceFinds) { compare_with_brute_force(1, 80); }

TEST(CoarseRows, FindTheSameWithEveryVectorWidth) {
  const std::int64_t all = hwy::SupportedTargets();
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    compare_with_brute_force(2, 16);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(CoarseRows, DecideRowsAtTheVeryRadius) {
  // 3-4-5 triangles: squared distances of exactly 25, and their neighbours in double precision.
  const double up = std::nextafter(5.0, 6.0);
  const double down = std::nextafter(5.0, 4.0);
  const Rows from{
      {3.0, 0.0, 0.0, 0.0, -3.0, 40.0, -40.0, 4.0, 5.0, up, down, -4.0, 0.0, 0.0}, 7, 2};
  const CoarseRows coarse(from.columns, 7, 2);
  ASSERT_TRUE(coarse.serves(5.0));
  CoarseRows::Scratch scratch;
  std::vector<std::uint64_t> mask(1);
  coarse.near(Matrix(1, 2), 25.0, scratch, mask);
  EXPECT_EQ(mask[0], 0b0011011U);
}

TEST(CoarseRows, LookIntoFewBoxesWhereTheWindowIsSmall) {
  Rng rng(Seed{4});
  const Rows from = draw_rows(rng, 20'000, 2, 0);
  const CoarseRows coarse(from.columns, 20'000, 2, CoarseRows::Arrangement::kInBoxes);
  CoarseRows::Scratch scratch;
  const std::vector<double> center(2, 0.0);
  EXPECT_LT(coarse.share_of_boxes(center, 0.2 * 0.2, scratch), 0.08);  // holds 2 % of the rows
  EXPECT_GT(coarse.share_of_boxes(center, 0.2 * 0.2, scratch), 0.02);
  EXPECT_EQ(coarse.share_of_boxes(center, 1e6, scratch), 1.0);
}

TEST(BoxOrder, PutsRowsIntoSmallBoxes) {
  Rng rng(Seed{5});
  for (const std::size_t rows : {1U, 7U, 64U, 65U, 1000U}) {
    const Rows from = draw_rows(rng, rows, 2, rows == 7 ? 1 : 0);
    auto order = box_order(from.columns, rows, 8);
    double widths = 0.0;
    for (std::size_t first = 0; first < rows; first += 8) {
      double low = 1e9;
      double high = -1e9;
      for (std::size_t i = first; i < std::min(rows, first + 8); ++i) {
        low = std::min(low, from.columns[order[i]]);
        high = std::max(high, from.columns[order[i]]);
      }
      widths += high - low;
    }
    // Eight rows as they were drawn are 2.8 apart.
    EXPECT_TRUE(rows < 1000 || widths / 125.0 < 0.8) << widths;
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < rows; ++i) ASSERT_EQ(order[i], i);
  }
}

TEST(CoarseRows, LeaveToOthersWhatTheGridCannotTell) {
  Rng rng(Seed{3});
  Rows from = draw_rows(rng, 200, 3, 0);
  EXPECT_TRUE(CoarseRows(from.columns, 200, 3).serves(1.0));
  EXPECT_FALSE(CoarseRows(from.columns, 200, 3).serves(1e-3));
  EXPECT_FALSE(CoarseRows(from.columns, 200, 3).serves(std::numeric_limits<double>::infinity()));
  from.columns[5] = 1e6;  // one row far from all: steps are too large for the rest
  EXPECT_FALSE(CoarseRows(from.columns, 200, 3).serves(1.0));
  from.columns[5] = 1e300;
  EXPECT_FALSE(CoarseRows(from.columns, 200, 3).serves(1e300));
  const std::vector<double> equal(30, 7.0);
  EXPECT_FALSE(CoarseRows(equal, 10, 3).serves(1.0));
  EXPECT_FALSE(CoarseRows({}, 0, 3).serves(1.0));
}

}  // namespace
}  // namespace tare
