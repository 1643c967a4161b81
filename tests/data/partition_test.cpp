// SPDX-License-Identifier: BSD-3-Clause
#include "data/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "data/standardize.h"

namespace tare {
namespace {

void expect_all_rows_once(const Partition& parts, std::size_t rows) {
  std::vector<std::size_t> all = parts.first;
  all.insert(all.end(), parts.second.begin(), parts.second.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), rows);
  for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(all[i], i);
  EXPECT_TRUE(std::is_sorted(parts.first.begin(), parts.first.end()));
  EXPECT_TRUE(std::is_sorted(parts.second.begin(), parts.second.end()));
}

TEST(Partition, SharesAreRoundedAndNeitherPartIsEmpty) {
  for (const std::size_t rows : {2U, 3U, 10U, 101U}) {
    for (const double share : {0.001, 0.3, 0.5, 0.999}) {
      const auto parts = random_partition(rows, share, Seed{1});
      expect_all_rows_once(parts, rows);
      EXPECT_FALSE(parts.first.empty());
      EXPECT_FALSE(parts.second.empty());
      expect_all_rows_once(time_partition(rows, share), rows);
    }
  }
  EXPECT_EQ(random_partition(100, 0.3, Seed{1}).second.size(), 30U);
}

TEST(Partition, ALimitTakesAnyRowOrTheLastOnes) {
  std::vector<std::size_t> taken(10, 0);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::vector<std::size_t> rows = limit_rows(10, 4, 1, Seed{seed});
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_TRUE(std::ranges::adjacent_find(rows, std::greater_equal<>()) == rows.end());
    for (const std::size_t row : rows) ++taken.at(row);
  }
  // Each row is in 160 of 400 with a standard deviation of 9.8; ten rows, five deviations.
  for (const std::size_t count : taken) EXPECT_NEAR(static_cast<double>(count), 160.0, 49.0);
  EXPECT_EQ(limit_rows(10, 4, 2, Seed{1}), (std::vector<std::size_t>{6, 7, 8, 9}));
  for (const std::size_t most : {3U, 4U}) {
    EXPECT_EQ(limit_rows(3, most, 1, Seed{1}), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(limit_rows(3, most, 2, Seed{1}), (std::vector<std::size_t>{0, 1, 2}));
  }
}

TEST(Partition, TheFutureIsTheSecondPart) {
  const auto parts = time_partition(10, 0.2);
  EXPECT_EQ(parts.second, (std::vector<std::size_t>{8, 9}));
}

TEST(Partition, SeedsMatter) {
  EXPECT_EQ(random_partition(50, 0.5, Seed{1}).first, random_partition(50, 0.5, Seed{1}).first);
  EXPECT_NE(random_partition(50, 0.5, Seed{1}).first, random_partition(50, 0.5, Seed{2}).first);
}

TEST(Folds, AreAsEvenAsCanBe) {
  const auto fold = random_folds(103, 5, Seed{1});
  for (std::size_t k = 0; k < 5; ++k) {
    const auto parts = fold_partition(fold, k);
    expect_all_rows_once(parts, 103);
    EXPECT_GE(parts.second.size(), 20U);
    EXPECT_LE(parts.second.size(), 21U);
  }
}

TEST(Folds, OfASeriesAreStretchesOfTimeThatShareNoStepWithTheRest) {
  constexpr std::size_t kWindow = 4;
  const auto fold = time_folds(53, 5);
  EXPECT_TRUE(std::is_sorted(fold.begin(), fold.end()));
  for (std::size_t k = 0; k < 5; ++k) {
    const auto parts = fold_partition(fold, k, kWindow);
    EXPECT_GE(parts.second.size(), 10U);
    EXPECT_LE(parts.second.size(), 11U);
    for (const std::size_t i : parts.first) {
      for (const std::size_t j : parts.second) EXPECT_GE(i > j ? i - j : j - i, kWindow);
    }
    const std::size_t borders = k == 0 || k == 4 ? 1 : 2;
    EXPECT_EQ(parts.first.size() + parts.second.size() + borders * (kWindow - 1), 53U);
  }
}

TEST(Standardizer, AConstantColumnGetsScaleOneWhateverItsSize) {
  for (const double value : {0.0, 0.1, 1e-300, 1e300, -7e9}) {
    const Matrix x(1000, 1, value);
    std::vector<std::size_t> rows(1000);
    for (std::size_t i = 0; i < 1000; ++i) rows[i] = i;
    const auto s = Standardizer::fit(x, rows);
    EXPECT_EQ(s.scale[0], 1.0) << value;
    EXPECT_NEAR(s.center[0], value, 1e-12 * std::abs(value));
  }
}

TEST(Standardizer, HugeValuesDoNotOverflow) {
  Matrix x(2, 1);
  x(0, 0) = 1e300;
  x(1, 0) = -1e300;
  const std::vector<std::size_t> rows = {0, 1};
  EXPECT_DOUBLE_EQ(Standardizer::fit(x, rows).scale[0], 1e300);
}

}  // namespace
}  // namespace tare
