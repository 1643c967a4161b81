// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/level_stretch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

double stretch_of(const BumpyRows& rows, const SnqOptions& options) {
  const LocalSample sample(rows.z, rows.u, {});
  return leave_one_out_stretch(sample, options, Seed{1}, {});
}

TEST(LevelStretch, IsOneWhereRowsOfAWindowAreAlike) {
  const BumpyRows rows = bumpy_rows(2'000, 0.0, Seed{1});
  for (const double count : {12.0, 40.0, 400.0}) {
    const SnqOptions options{
        .kernel = KernelKind::kKnn, .bandwidth = count, .ranks = Ranks::kExpected};
    // The size of 1,000 normal scores is known to 1 / sqrt(2,000); four times that, and 0.02 for
    // tails that are a guess.
    EXPECT_NEAR(stretch_of(rows, options), 1.0, 0.11) << count;
  }
}

TEST(LevelStretch, WidensWhatThePapersRanksMakeTooNarrow) {
  const BumpyRows rows = bumpy_rows(2'000, 0.0, Seed{2});
  const SnqOptions options{.kernel = KernelKind::kKnn, .bandwidth = 8.0, .ranks = Ranks::kPaper};
  EXPECT_GT(stretch_of(rows, options), 1.2);
}

TEST(LevelStretch, StaysWithinItsBounds) {
  BumpyRows rows = bumpy_rows(200, 0.0, Seed{3});
  const SnqOptions options{.kernel = KernelKind::kKnn, .bandwidth = 9.0, .ranks = Ranks::kExpected};
  std::ranges::fill(rows.u, 1.0);  // everything is covered
  EXPECT_NEAR(stretch_of(rows, options), 0.5, 1e-3);
  EXPECT_EQ(stretch_of({Matrix(1, 1), {1.0}}, options), 1.0);
  const SnqOptions everything{.bandwidth = std::numeric_limits<double>::infinity(),
                              .ranks = Ranks::kExpected};
  EXPECT_EQ(stretch_of(bumpy_rows(50, 0.0, Seed{5}), everything), 1.0);
}

TEST(LevelStretch, CountsARowAsOftenAsItsWeight) {
  const BumpyRows rows = bumpy_rows(300, 3.0, Seed{4});
  std::vector<double> weight(300);
  for (std::size_t i = 0; i < 300; ++i) weight[i] = static_cast<double>(1 + i % 3);
  const SnqOptions options{.bandwidth = std::numeric_limits<double>::infinity(),
                           .ranks = Ranks::kExpected};
  // By hand: a window of all other rows, whatever the place.
  const LocalSample sample(rows.z, rows.u, weight);
  const double stretch = leave_one_out_stretch(sample, options, Seed{1}, {});
  double excess = 0.0;
  double total = 0.0;
  std::vector<double> shares;
  for (double share = 0.5; share < 0.98; share += 0.02) shares.push_back(share);
  std::vector<Level> levels;
  for (const double share : shares) levels.emplace_back(0.5 - 0.5 * share);
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    levels.emplace_back(0.5 + 0.5 * *share);
  }
  std::sort(levels.begin(), levels.end());
  for (std::size_t i = 0; i < 300; ++i) {
    Matrix z(299, 1);
    std::vector<double> u;
    std::vector<double> w;
    for (std::size_t k = 0; k < 300; ++k) {
      if (k == i) continue;
      u.push_back(rows.u[k]);
      w.push_back(weight[k]);
    }
    SnqOptions stretched = options;
    stretched.stretch = stretch;
    const Prediction p = Snq(z, u, w, stretched).predict(Matrix(1, 1), levels);
    const auto q = p.quantiles.row(0);
    for (std::size_t j = 0; j < levels.size() / 2; ++j) {
      const bool inside = q[j] <= rows.u[i] && rows.u[i] <= q[levels.size() - 1 - j];
      excess += weight[i] * ((inside ? 1.0 : 0.0) - (1.0 - 2.0 * levels[j].value()));
      total += weight[i];
    }
  }
  EXPECT_NEAR(excess / total, 0.0, 0.01);
}

TEST(LevelStretch, KeepsLevelsInOrderAndInRange) {
  const std::vector<Level> levels = {Level{1e-300},     Level{1e-9}, Level{0.05},
                                     Level{0.5},        Level{0.95}, Level{1.0 - 1e-9},
                                     Level{1.0 - 1e-16}};
  for (const double stretch : {0.5, 1.0, 2.0}) {
    const auto moved = stretched_levels(levels, stretch);
    EXPECT_TRUE(std::is_sorted(moved.begin(), moved.end()));
    EXPECT_NEAR(moved[3].value(), 0.5, 1e-15);
    EXPECT_NEAR(moved[4].value(), normal_cdf(stretch * 1.6448536269514722), 1e-12);
  }
}

}  // namespace
}  // namespace tare
