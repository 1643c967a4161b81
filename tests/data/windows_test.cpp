// SPDX-License-Identifier: BSD-3-Clause
#include "data/windows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tare {
namespace {

/// Row i is (i, 100 + i), its target 1000 + i.
Encoded series(std::size_t first, std::size_t count) {
  Encoded encoded;
  encoded.x = Matrix(count, 2);
  encoded.given = Matrix(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto t = static_cast<double>(first + i);
    encoded.x(i, 0) = t;
    encoded.x(i, 1) = 100.0 + t;
    encoded.given(i, 0) = -t;
    encoded.y.push_back(1000.0 + t);
    encoded.weight.push_back(t);
    encoded.rows.push_back(i);
  }
  return encoded;
}

TEST(Windows, ARowComesWithItsPastOldestFirst) {
  Windows windows(3);
  Encoded encoded = series(0, 5);
  windows.apply(encoded);
  ASSERT_EQ(encoded.x.rows(), 3U);
  EXPECT_TRUE(std::ranges::equal(encoded.x.row(0), std::vector<double>{0, 100, 1, 101, 2, 102}));
  EXPECT_TRUE(std::ranges::equal(encoded.x.row(2), std::vector<double>{2, 102, 3, 103, 4, 104}));
  EXPECT_EQ(encoded.y, (std::vector<double>{1002, 1003, 1004}));
  EXPECT_EQ(encoded.weight, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(encoded.given(0, 0), -2.0);
  EXPECT_EQ(encoded.rows, (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(windows.left_out(), 2U);
}

TEST(Windows, ASeriesInPiecesIsTheSeries) {
  for (const std::size_t window : {1U, 2U, 4U, 7U}) {
    Encoded whole = series(0, 20);
    Windows one(window);
    one.apply(whole);
    for (const std::size_t piece : {1U, 2U, 3U, 9U}) {
      Windows many(window);
      std::vector<double> x;
      std::vector<double> y;
      for (std::size_t first = 0; first < 20; first += piece) {
        Encoded part = series(first, std::min<std::size_t>(piece, 20 - first));
        many.apply(part);
        x.insert(x.end(), part.x.values().begin(), part.x.values().end());
        y.insert(y.end(), part.y.begin(), part.y.end());
      }
      EXPECT_TRUE(std::ranges::equal(x, whole.x.values())) << window << " in pieces of " << piece;
      EXPECT_EQ(y, whole.y);
      EXPECT_EQ(many.left_out(), one.left_out());
    }
  }
}

TEST(Windows, ASeriesShorterThanTheWindowHasNoRow) {
  Windows windows(6);
  Encoded encoded = series(0, 4);
  windows.apply(encoded);
  EXPECT_EQ(encoded.x.rows(), 0U);
  EXPECT_TRUE(encoded.y.empty());
  EXPECT_EQ(windows.left_out(), 4U);
}

TEST(Windows, ColumnsAreFoundInTheWindow) {
  EXPECT_EQ(at_every_step({0, 2}, 3, 2), (std::vector<std::size_t>{0, 2, 3, 5}));
  EXPECT_EQ(at_last_step({0, 2}, 3, 2), (std::vector<std::size_t>{3, 5}));
}

}  // namespace
}  // namespace tare
