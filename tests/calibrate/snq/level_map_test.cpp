// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/level_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expect_error.h"
#include "math/normal.h"

namespace tare {
namespace {

struct BumpyRows {
  Matrix z;
  std::vector<double> u;
};

/// One feature, noise of size 1 around bumps of the given height.
BumpyRows bumpy_rows(std::size_t count, double height, Seed seed) {
  Rng rng(seed);
  BumpyRows rows{Matrix(count, 1), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    rows.z(i, 0) = rng.uniform(0.0, 10.0);
    rows.u[i] = height * std::sin(5.0 * rows.z(i, 0)) + rng.normal();
  }
  return rows;
}

LevelMap map_of(const BumpyRows& rows, const SnqOptions& options) {
  const LocalSample sample(rows.z, rows.u, {});
  return leave_one_out_map(sample, options, Seed{1}, {});
}

TEST(LevelMap, IsNoneWhereRowsOfAWindowAreAlike) {
  const BumpyRows rows = bumpy_rows(2'000, 0.0, Seed{1});
  for (const double count : {12.0, 40.0, 400.0}) {
    const SnqOptions options{
        .kernel = KernelKind::kKnn, .bandwidth = count, .ranks = Ranks::kExpected};
    // The mean of 2,000 normal scores is known to 1 / sqrt(2,000), their size to 0.7 times that;
    // four times that, and 0.02 for tails that are a guess.
    const LevelMap map = map_of(rows, options);
    EXPECT_NEAR(map.shift, 0.0, 0.09) << count;
    EXPECT_NEAR(map.stretch, 1.0, 0.085) << count;
    EXPECT_NEAR(map.bend, 0.0, 0.05) << count;
  }
}

TEST(LevelMap, WidensWhatThePapersRanksMakeTooNarrow) {
  const BumpyRows rows = bumpy_rows(2'000, 0.0, Seed{2});
  const SnqOptions options{.kernel = KernelKind::kKnn, .bandwidth = 8.0, .ranks = Ranks::kPaper};
  EXPECT_GT(map_of(rows, options).stretch, 1.2);
}

TEST(LevelMap, IsNoneWhereNothingCanBeTold) {
  BumpyRows rows = bumpy_rows(200, 0.0, Seed{3});
  const SnqOptions options{.kernel = KernelKind::kKnn, .bandwidth = 9.0, .ranks = Ranks::kExpected};
  std::ranges::fill(rows.u, 1.0);  // which is the quantile of every level
  const LevelMap map = map_of(rows, options);
  EXPECT_NEAR(map.shift, 0.0, 0.01);
  // A range of levels in twenty pieces has a little less spread than the range.
  EXPECT_NEAR(map.stretch, 1.0, 0.1);
  EXPECT_EQ(map_of({Matrix(1, 1), {1.0}}, options), LevelMap{});
  const SnqOptions everything{.bandwidth = std::numeric_limits<double>::infinity(),
                              .ranks = Ranks::kExpected};
  EXPECT_EQ(map_of(bumpy_rows(50, 0.0, Seed{5}), everything), LevelMap{});
}

// Windows that are far too wide for bumps of height 3: the law of a window is that of all places,
// the law at a place is a normal one on the side of it.
TEST(LevelMap, GivesRowsLeftOutTheirLevels) {
  const BumpyRows rows = bumpy_rows(1'500, 3.0, Seed{4});
  std::vector<double> weight(1'500);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<double>(1 + i % 3);
  for (const double bandwidth : {0.02, 0.3, 2.0}) {
    SnqOptions options{.bandwidth = bandwidth, .ranks = Ranks::kExpected};
    options.level_map =
        leave_one_out_map(LocalSample(rows.z, rows.u, weight), options, Seed{1}, {});
    std::vector<Level> levels;
    for (const double tau : {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95}) levels.emplace_back(tau);
    std::vector<double> below(levels.size());
    double total = 0.0;
    // By fits without a row.
    for (std::size_t i = 0; i < rows.u.size(); ++i) {
      Matrix z(rows.u.size() - 1, 1);
      std::vector<double> u;
      std::vector<double> w;
      for (std::size_t k = 0; k < rows.u.size(); ++k) {
        if (k == i) continue;
        z(u.size(), 0) = rows.z(k, 0);
        u.push_back(rows.u[k]);
        w.push_back(weight[k]);
      }
      Matrix at(1, 1);
      at(0, 0) = rows.z(i, 0);
      const Prediction p = Snq(z, u, w, options).predict(at, levels);
      for (std::size_t j = 0; j < levels.size(); ++j) {
        below[j] += rows.u[i] <= p.quantiles(0, j) ? weight[i] : 0.0;
      }
      total += weight[i];
    }
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double tau = levels[j].value();
      EXPECT_NEAR(below[j] / total, tau, 0.02) << bandwidth << " " << tau;
    }
  }
}

TEST(LevelMap, KeepsLevelsInOrderAndInRange) {
  const std::vector<Level> levels = {Level{1e-300},     Level{1e-9}, Level{0.05},
                                     Level{0.5},        Level{0.95}, Level{1.0 - 1e-9},
                                     Level{1.0 - 1e-16}};
  for (const double shift : {-1.0, 0.0, 2.0}) {
    for (const double stretch : {0.5, 1.0, 2.0}) {
      for (const double bend : {-0.018, 0.0, 0.09}) {
        const LevelMap map{shift, stretch, bend};
        ASSERT_TRUE(map.is_valid());
        const auto moved = mapped_levels(levels, map);
        EXPECT_TRUE(std::is_sorted(moved.begin(), moved.end()));
        EXPECT_NEAR(moved[3].value(), normal_cdf(shift), 1e-12);
        const double z = 1.6448536269514722;
        const double g = shift + stretch * z + bend * (z * z * z - 3.0 * z);
        EXPECT_NEAR(moved[4].value(), normal_cdf(g), 1e-9);
      }
    }
  }
}

TEST(LevelMap, ThatFallsSomewhereIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const LevelMap& map :
       {LevelMap{0.0, 0.0, 0.0}, LevelMap{0.0, 1.0, 0.4}, LevelMap{0.0, 1.0, -0.07},
        LevelMap{nan, 1.0, 0.0}, LevelMap{0.0, 1.0, nan}}) {
    EXPECT_FALSE(map.is_valid());
    SnqOptions options{.ranks = Ranks::kExpected};
    options.level_map = map;
    expect_error(ErrorCode::kInvalidArgument, "map of levels",
                 [&] { Snq(Matrix(3, 1), std::vector<double>(3), {}, options); });
  }
}

}  // namespace
}  // namespace tare
