// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/pair_scans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tare/base/rng.h"

namespace tare {
namespace {

/// Values with many ties, of which some have no room.
struct ScannedRows {
  std::vector<double> rest, a, low, high, diagonal, row;

  ScannedRows(std::size_t count, Rng& rng) {
    for (std::size_t i = 0; i < count; ++i) {
      rest.push_back(static_cast<double>(rng.below(9)) - 4.0);
      low.push_back(-1.0);
      high.push_back(1.0);
      a.push_back(static_cast<double>(rng.below(3)) - 1.0);
      diagonal.push_back(1.0);
      row.push_back(static_cast<double>(rng.below(5)) / 4.0);  // 1: no curvature
    }
  }
  std::size_t size() const { return rest.size(); }
};

std::size_t slow_largest(const ScannedRows& rows) {
  std::size_t best = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool better = best == rows.size() || rows.rest[i] > rows.rest[best];
    if (rows.a[i] < rows.high[i] && better) best = i;
  }
  return best;
}

std::size_t slow_partner(const ScannedRows& rows, std::size_t up) {
  std::size_t best = rows.size();
  double most = 0.0;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const double slope = rows.rest[up] - rows.rest[j];
    if (rows.a[j] == rows.low[j] || slope <= 0.0) continue;
    const double curvature =
        std::max(rows.diagonal[up] + rows.diagonal[j] - 2.0 * rows.row[j], kLeastCurvature);
    if (slope * slope / curvature <= most) continue;
    most = slope * slope / curvature;
    best = j;
  }
  return best;
}

TEST(PairScans, FindWhatALoopFinds) {
  Rng rng(Seed{3});
  for (std::size_t count = 1; count < 300; ++count) {
    const ScannedRows rows(count, rng);
    EXPECT_EQ(largest_with_room(rows.rest, rows.a, rows.high), slow_largest(rows)) << count;
    const std::size_t up = rng.below(count);
    EXPECT_EQ(steepest_partner(up, rows.rest, rows.a, rows.low, rows.diagonal, rows.row),
              slow_partner(rows, up))
        << count;
  }
}

TEST(PairScans, FindNothingWhereNoElementHasRoom) {
  Rng rng(Seed{4});
  for (const std::size_t count : {1U, 8U, 63U, 64U, 65U, 200U}) {
    ScannedRows rows(count, rng);
    rows.a = rows.high;
    EXPECT_EQ(largest_with_room(rows.rest, rows.a, rows.high), count);
    rows.a = rows.low;
    EXPECT_EQ(steepest_partner(0, rows.rest, rows.a, rows.low, rows.diagonal, rows.row), count);
  }
}

TEST(PairScans, SumsAndDifferencesAreThoseOfALoop) {
  Rng rng(Seed{5});
  for (std::size_t count = 0; count < 100; ++count) {
    const ScannedRows rows(count, rng);  // whole numbers and quarters: every order has the same sum
    double sum = 0.0;
    std::vector<double> expected = rows.rest;
    for (std::size_t i = 0; i < count; ++i) {
      sum += rows.rest[i] * rows.row[i];
      expected[i] -= 0.5 * (rows.row[i] - rows.a[i]);
    }
    EXPECT_EQ(sum_of_products(rows.rest, rows.row), sum);
    std::vector<double> rest = rows.rest;
    subtract_difference(rest, 0.5, rows.row, rows.a);
    EXPECT_EQ(rest, expected);
  }
}

}  // namespace
}  // namespace tare
