// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "calibrate/snq/shards/shard.h"
#include "calibrate/snq/shards/shard_plan.h"
#include "expect_error.h"
#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

// Shards against Snq on one machine; python/tests/test_shards.py has more kernels, weights and
// ties.
namespace tare {
namespace {

struct ShardSample {
  Matrix z;
  std::vector<double> u;
};

ShardSample shard_sample(Rng& rng, std::size_t rows) {
  ShardSample s{Matrix(rows, 2), std::vector<double>(rows)};
  for (std::size_t i = 0; i < rows; ++i) {
    s.z(i, 0) = std::floor(5.0 * rng.normal()) / 4.0;
    s.z(i, 1) = rng.normal();
    s.u[i] = std::floor(10.0 * rng.normal()) / 4.0;
  }
  return s;
}

/// Rows in the order of their residuals, cut into `count` shards.
std::vector<Shard> cut_in_shards(const ShardSample& s, std::size_t count, KernelKind kernel,
                                 double h) {
  std::vector<std::size_t> order(s.u.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](auto a, auto b) { return s.u[a] < s.u[b]; });
  std::vector<Shard> shards;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t first = k * order.size() / count;
    const std::size_t last = (k + 1) * order.size() / count;
    Matrix z(last - first, 2);
    std::vector<double> u;
    for (std::size_t i = first; i < last; ++i) {
      std::ranges::copy(s.z.row(order[i]), z.row(i - first).begin());
      u.push_back(s.u[order[i]]);
    }
    shards.emplace_back(z, u, std::span<const double>{}, kernel, h);
  }
  return shards;
}

Matrix answer_from_shards(const std::vector<Shard>& shards, const ShardWindows& windows,
                          std::span<const Level> levels, Ranks ranks) {
  std::vector<WindowSums> sums;
  for (const Shard& shard : shards) {
    const auto own = shard.sums(windows, {});
    sums.insert(sums.end(), own.begin(), own.end());
  }
  const ShardSums all{sums, windows.exponent};
  const ShardPlan plan = plan_picks(all, levels, ranks);
  std::vector<double> values(plan.picks.size());
  for (std::size_t i = 0; i < windows.z.rows(); ++i) {
    for (std::size_t k = plan.first[i]; k < plan.first[i + 1]; ++k) {
      const ShardPick pick{static_cast<std::uint32_t>(i), plan.picks[k].target};
      values[k] = shards[plan.picks[k].shard].pick(windows, {&pick, 1}, {}).front();
    }
  }
  return finish_picks(all, levels, ranks, values);
}

TEST(Shard, AnswersDoNotDependOnTheNumberOfShards) {
  Rng rng(Seed{1});
  const ShardSample s = shard_sample(rng, 5000);
  const std::vector<Level> levels = {Level{0.001}, Level{0.3}, Level{0.5}, Level{0.99}};
  const MatrixView queries = s.z.view().middle_rows(0, 20);
  for (const KernelKind kernel : {KernelKind::kNaive, KernelKind::kGaussian}) {
    const bool counts = kernel == KernelKind::kNaive;
    const double h = 0.5;
    const std::vector<double> reach2(20, counts ? h * h : std::nan(""));
    const std::vector<std::int32_t> exponent(20, counts ? 0 : -62);
    SnqOptions options{.kernel = kernel, .bandwidth = h};
    options.index = "brute";
    for (const Ranks ranks : {Ranks::kPaper, Ranks::kExpected}) {
      options.ranks = ranks;
      const Matrix one = Snq(s.z, s.u, {}, options).predict(queries, levels).quantiles;
      for (const std::size_t count : {1UL, 2UL, 7UL}) {
        const auto shards = cut_in_shards(s, count, kernel, h);
        const Matrix several =
            answer_from_shards(shards, {queries, reach2, exponent}, levels, ranks);
        EXPECT_TRUE(std::ranges::equal(several.values(), one.values())) << count << " shards";
      }
    }
  }
}

TEST(Shard, DistancesAreThoseOfSortedRows) {
  Rng rng(Seed{2});
  const ShardSample s = shard_sample(rng, 3000);
  const Shard shard(s.z, s.u, {}, KernelKind::kKnn, 1.0);
  const MatrixView query = s.z.view().middle_rows(7, 1);
  std::vector<double> squared;
  for (std::size_t i = 0; i < s.u.size(); ++i) {
    const double a = s.z(i, 0) - query(0, 0);
    const double b = s.z(i, 1) - query(0, 1);
    squared.push_back(a * a + b * b);
  }
  std::ranges::sort(squared);
  const std::vector<std::size_t> ranks = {1, 2, 50, 3000, 3001};
  const Matrix found = shard.distances(query, ranks, {});
  for (std::size_t j = 0; j < 4; ++j) EXPECT_EQ(found(0, j), squared[ranks[j] - 1]);
  EXPECT_TRUE(std::isinf(found(0, 4)));
  const std::vector<double> low = {squared[9]};
  const std::vector<double> high = {squared[99]};
  const DistancesBetween between = shard.between(query, low, high, {}).front();
  EXPECT_EQ(between.below, static_cast<std::uint64_t>(std::ranges::upper_bound(squared, low[0]) -
                                                      squared.begin()));
  EXPECT_TRUE(std::ranges::is_sorted(between.squared));
  EXPECT_EQ(between.squared.back(), high[0]);
}

TEST(Shard, RefusesWhatDoesNotFit) {
  const Matrix z(3, 2);
  const std::vector<double> u = {1.0, 2.0, 3.0};
  const std::vector<double> few = {1.0};
  expect_error(ErrorCode::kShapeMismatch, "3 rows",
               [&] { Shard(z, few, {}, KernelKind::kNaive, 1.0); });
  const std::vector<double> wrong = {1.0, std::numeric_limits<double>::infinity(), 3.0};
  expect_error(ErrorCode::kInvalidArgument, "row 1",
               [&] { Shard(z, wrong, {}, KernelKind::kNaive, 1.0); });
  const Shard shard(z, u, {}, KernelKind::kNaive, 1.0);
  const Matrix wide(1, 3);
  const std::vector<double> reach2 = {1.0};
  const std::vector<std::int32_t> exponent = {0};
  expect_error(ErrorCode::kShapeMismatch, "3 features", [&] {
    shard.sums({wide, reach2, exponent}, {});
  });
  const Matrix query(1, 2);
  const ShardPick beyond{0, 4};
  expect_error(ErrorCode::kInvalidArgument, "exceeds", [&] {
    shard.pick({query, reach2, exponent}, {&beyond, 1}, {});
  });
  const std::vector<WindowSums> none(1);
  expect_error(ErrorCode::kInvalidArgument, "no weight", [&] {
    plan_picks({none, exponent}, {}, Ranks::kPaper);
  });
}

}  // namespace
}  // namespace tare
