// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/dense_answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/snq/window/rank_rule.h"
#include "tare/base/rng.h"
#include "vector_targets.h"

namespace tare {
namespace {

using Real = long double;

struct DenseCase {
  Matrix z;
  std::vector<double> u;
  std::vector<double> weight;
  Matrix queries;
};

enum class Spread { kNormal, kGrid, kConstant, kShifted };

DenseCase draw_case(Rng& rng, std::size_t rows, std::size_t dims, Spread spread, bool weighted) {
  DenseCase c{Matrix(rows, dims), std::vector<double>(rows), {}, Matrix(37, dims)};
  const auto coordinate = [&] {
    if (spread == Spread::kGrid) return 0.5 * static_cast<double>(rng.below(4));
    if (spread == Spread::kConstant) return 3.25;
    return rng.normal() + (spread == Spread::kShifted ? 1e4 : 0.0);
  };
  for (double& value : c.z.values()) value = coordinate();
  for (double& value : c.queries.values()) value = coordinate();
  for (double& value : c.u) {
    value = spread == Spread::kGrid ? static_cast<double>(rng.below(6)) : rng.normal();
  }
  for (std::size_t i = 0; i < rows && weighted; ++i) {
    c.weight.push_back(i % 7 == 3 ? 0.0 : rng.uniform());
  }
  // A query that is a calibration row, and one far from all.
  std::copy(c.z.row(0).begin(), c.z.row(0).end(), c.queries.row(0).begin());
  for (double& value : c.queries.row(1)) value += 1e3;
  return c;
}

/// Weights by the definition, in long double, relative to the largest.
std::vector<Real> weights_by_definition(const DenseCase& c, const SnqOptions& options,
                                        std::span<const double> query) {
  std::vector<Real> exponent;
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < c.u.size(); ++i) {
    Real r2 = 0;
    for (std::size_t j = 0; j < query.size(); ++j) {
      const Real difference = static_cast<Real>(c.z(i, j)) - static_cast<Real>(query[j]);
      r2 += difference * difference;
    }
    const Real h = options.bandwidth;
    exponent.push_back(options.kernel == KernelKind::kLaplace ? std::sqrt(r2) / h
                                                              : r2 / (2 * h * h));
    if (c.weight.empty() || c.weight[i] > 0.0) least = std::min(least, exponent.back());
  }
  std::vector<Real> weight;
  for (std::size_t i = 0; i < c.u.size(); ++i) {
    const Real sample_weight = c.weight.empty() ? 1.0 : c.weight[i];
    weight.push_back(sample_weight * std::exp(least - exponent[i]));
  }
  return weight;
}

/// By how much an answer misses its level, as a share of the total weight; 0 for an exact one.
Real level_error(const DenseCase& c, const std::vector<Real>& weight, double answer, double tau) {
  Real total = 0;
  Real below = 0;
  Real up_to = 0;
  for (std::size_t i = 0; i < c.u.size(); ++i) {
    total += weight[i];
    if (c.u[i] < answer) below += weight[i];
    if (c.u[i] <= answer) up_to += weight[i];
  }
  return std::max({Real{0}, tau - up_to / total, below / total - tau});
}

Prediction shaped(std::size_t rows, std::size_t levels) {
  Prediction result;
  result.quantiles = Matrix(rows, levels);
  result.window_n.resize(rows);
  result.nearest.resize(rows);
  result.fallback.resize(rows);
  return result;
}

struct Tally {
  Real worst = 0.0;
  Real worst_size = 0.0;
  std::size_t queries = 0;
  std::size_t in_double = 0;
};

void check_case(const DenseCase& c, const SnqOptions& options, std::span<const Level> levels,
                std::size_t checked, Tally& tally) {
  const auto sample = std::make_shared<const LocalSample>(c.z, c.u, c.weight);
  const DenseAnswer dense(sample);
  ASSERT_TRUE(dense.serves(options));
  const std::size_t m = c.queries.rows();
  Prediction fast = shaped(m, levels.size());
  tally.in_double += dense.predict(c.queries, 0, m, options, levels, fast);
  tally.queries += m;
  LocalSample::Scratch scratch;
  for (std::size_t q = 0; q < std::min(m, checked); ++q) {
    ASSERT_EQ(fast.nearest[q], sample->measure(c.queries.row(q), scratch)) << "query " << q;
    const auto support = sample->weigh(options, scratch);
    ASSERT_EQ(fast.fallback[q] != 0, support.fallback);
    const Real size_error = std::abs(fast.window_n[q] / support.effective_n - 1.0);
    tally.worst_size = std::max(tally.worst_size, size_error);
    if (support.fallback) continue;
    const auto weight = weights_by_definition(c, options, c.queries.row(q));
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const Real error = level_error(c, weight, fast.quantiles(q, j), levels[j].value());
      tally.worst = std::max(tally.worst, error);
      ASSERT_LE(fast.quantiles(q, j > 0 ? j - 1 : 0), fast.quantiles(q, j));
    }
  }
}

/// With expected ranks: every value that is interpolated lies where its cumulative weight says, up
/// to the error of single precision; so do the quantiles between them.
void check_expected_ranks(const DenseCase& c, SnqOptions options, std::span<const Level> levels,
                          Tally& tally) {
  options.ranks = Ranks::kExpected;
  const auto sample = std::make_shared<const LocalSample>(c.z, c.u, c.weight);
  const DenseAnswer dense(sample);
  Prediction fast = shaped(c.queries.rows(), levels.size());
  dense.predict(c.queries, 0, c.queries.rows(), options, levels, fast);
  LocalSample::Scratch scratch;
  RankRule rule(Ranks::kExpected, levels);
  for (std::size_t q = 0; q < c.queries.rows(); ++q) {
    sample->measure(c.queries.row(q), scratch);
    const double n = sample->weigh(options, scratch).effective_n;
    if (std::abs(n - std::floor(n) - 0.5) < 1e-3 + 2e-4 * n || fast.fallback[q] != 0) continue;
    const auto targets = rule.targets(scratch.sums, WeightType::kReal);
    const auto bound = [&](double shift) {
      std::vector<double> moved(targets.begin(), targets.end());
      for (double& target : moved) {
        target = std::clamp(target + shift * scratch.sums.total, 0.0, scratch.sums.total);
      }
      std::vector<std::size_t> places(moved.size());
      weighted_places(scratch.weight, scratch.sums, moved, places);
      std::vector<double> values;
      for (const std::size_t place : places) values.push_back(sample->residuals()[place]);
      std::vector<double> out(levels.size());
      rule.answer(values, out);
      return out;
    };
    const auto lowest = bound(-2e-5);
    const auto highest = bound(2e-5);
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double p = levels[j].value() * (std::round(n) + 1.0);
      if (p < 1.0 || p > std::round(n)) continue;  // a tail falls where its second value rises
      ASSERT_GE(fast.quantiles(q, j), lowest[j]) << "query " << q << ", n " << n;
      ASSERT_LE(fast.quantiles(q, j), highest[j]) << "query " << q << ", n " << n;
      ++tally.queries;
    }
    ASSERT_TRUE(std::ranges::is_sorted(fast.quantiles.row(q)));
  }
}

const std::vector<Level> kSomeLevels = {Level{0.001}, Level{0.05}, Level{0.3},  Level{0.5},
                                        Level{0.77},  Level{0.95}, Level{0.999}};

class DenseAnswerOf : public testing::TestWithParam<KernelKind> {};

TEST_P(DenseAnswerOf, IsWithinAHundredThousandthOfTheLevel) {
  Rng rng(Seed{5});
  Tally tally;
  for (int trial = 0; trial < 120; ++trial) {
    const std::size_t rows = trial % 4 == 3 ? 700 + rng.below(1500) : 1 + rng.below(150);
    const std::size_t dims = 1 + rng.below(40);
    const auto spread = static_cast<Spread>(trial % 4);
    const DenseCase c = draw_case(rng, rows, dims, spread, trial % 3 == 1 && rows > 8);
    SnqOptions options;
    options.kernel = GetParam();
    options.bandwidth =
        std::sqrt(static_cast<double>(dims)) * std::pow(10.0, rng.uniform(-2.5, 2.0));
    options.min_support = 5;
    check_case(c, options, kSomeLevels, 12, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_LT(tally.worst, 1e-5);
  EXPECT_LT(tally.worst_size, 1e-4);
  EXPECT_LT(tally.in_double, tally.queries / 2) << "single precision was hardly tried";
  EXPECT_GT(tally.in_double, tally.queries / 40) << "the way out was hardly tried";
  RecordProperty("worst_in_1e9", static_cast<int>(tally.worst * 1e9L));
  RecordProperty("worst_size_in_1e9", static_cast<int>(tally.worst_size * 1e9L));
}

TEST_P(DenseAnswerOf, InterpolatesWhatDoublePrecisionInterpolates) {
  Rng rng(Seed{15});
  Tally tally;
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t dims = 1 + rng.below(12);
    const DenseCase c =
        draw_case(rng, 100 + rng.below(1'200), dims, Spread::kNormal, trial % 3 == 1);
    SnqOptions options{.kernel = GetParam()};
    options.bandwidth =
        std::sqrt(static_cast<double>(dims)) * std::pow(10.0, rng.uniform(-1.5, 0.5));
    check_expected_ranks(c, options, kSomeLevels, tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.queries, 1'000U);
}

TEST_P(DenseAnswerOf, IsAsGoodOnManyRows) {
  Rng rng(Seed{6});
  Tally tally;
  for (const std::size_t dims : {2U, 30U}) {
    const DenseCase c = draw_case(rng, 20'000, dims, Spread::kNormal, false);
    for (const double bandwidth : {0.1, 0.6}) {
      SnqOptions options;
      options.kernel = GetParam();
      options.bandwidth = bandwidth * std::sqrt(static_cast<double>(dims));
      check_case(c, options, kSomeLevels, 4, tally);
    }
  }
  EXPECT_LT(tally.worst, 1e-5);
  EXPECT_LT(tally.worst_size, 1e-4);
  RecordProperty("worst_in_1e9", static_cast<int>(tally.worst * 1e9L));
}

TEST_P(DenseAnswerOf, DoesNotDependOnTheQueriesBesideIt) {
  Rng rng(Seed{7});
  const DenseCase c = draw_case(rng, 500, 12, Spread::kNormal, true);
  Matrix many(301, 12);
  for (double& value : many.values()) value = rng.normal();
  const DenseAnswer dense(std::make_shared<const LocalSample>(c.z, c.u, c.weight));
  SnqOptions options;
  options.kernel = GetParam();
  Prediction whole = shaped(301, kSomeLevels.size());
  Prediction parts = shaped(301, kSomeLevels.size());
  dense.predict(many, 0, 301, options, kSomeLevels, whole);
  std::size_t first = 0;
  for (const std::size_t last : {1U, 34U, 35U, 200U, 301U}) {
    dense.predict(many, first, last, options, kSomeLevels, parts);
    first = last;
  }
  EXPECT_TRUE(std::equal(whole.quantiles.values().begin(), whole.quantiles.values().end(),
                         parts.quantiles.values().begin()));
  EXPECT_EQ(whole.window_n, parts.window_n);
  EXPECT_EQ(whole.nearest, parts.nearest);
}

TEST_P(DenseAnswerOf, IsRightOnEveryKindOfProcessor) {
  Rng rng(Seed{8});
  const DenseCase narrow = draw_case(rng, 300, 3, Spread::kNormal, true);
  const DenseCase wide = draw_case(rng, 300, 20, Spread::kNormal, false);
  SnqOptions options;
  options.kernel = GetParam();
  options.bandwidth = 1.5;
  on_every_vector_target([&] {
    Tally tally;
    check_case(narrow, options, kSomeLevels, 12, tally);
    check_case(wide, options, kSomeLevels, 12, tally);
    EXPECT_LT(tally.worst, 1e-5);
    EXPECT_LT(tally.in_double, tally.queries / 2);
  });
}

INSTANTIATE_TEST_SUITE_P(Dense, DenseAnswerOf,
                         testing::Values(KernelKind::kGaussian, KernelKind::kLaplace),
                         [](const auto& kind) { return std::string(kernel_name(kind.param)); });

TEST(DenseAnswer, LeavesWhatFloatsCannotHoldToTheSample) {
  Rng rng(Seed{9});
  DenseCase c = draw_case(rng, 80, 3, Spread::kNormal, false);
  const auto sample = std::make_shared<const LocalSample>(c.z, c.u, c.weight);
  const DenseAnswer dense(sample);
  EXPECT_FALSE(dense.serves({.bandwidth = std::numeric_limits<double>::infinity()}));
  EXPECT_FALSE(dense.serves({.bandwidth = 1e-50}));
  EXPECT_FALSE(dense.serves({.kernel = KernelKind::kNaive}));

  // Queries that are huge or not even numbers are answered as the sample answers them.
  c.queries(3, 0) = 1e40;
  c.queries(4, 1) = std::numeric_limits<double>::infinity();
  c.queries(5, 2) = std::numeric_limits<double>::quiet_NaN();
  const SnqOptions options;
  Prediction fast = shaped(37, kSomeLevels.size());
  EXPECT_GE(dense.predict(c.queries, 0, 37, options, kSomeLevels, fast), 4U);
  LocalSample::Scratch scratch;
  std::vector<double> expected(kSomeLevels.size());
  for (const std::size_t q : {1U, 3U, 4U, 5U}) {
    sample->measure(c.queries.row(q), scratch);
    sample->weigh(options, scratch);
    sample->quantiles(kSomeLevels, scratch, expected);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_EQ(fast.quantiles(q, j), expected[j]) << "query " << q;
    }
  }

  c.z(0, 0) = 1e30;
  EXPECT_FALSE(DenseAnswer(std::make_shared<const LocalSample>(c.z, c.u, c.weight)).serves({}));
  EXPECT_FALSE(
      DenseAnswer(std::make_shared<const LocalSample>(Matrix(80, 0), c.u, c.weight)).serves({}));
}

}  // namespace
}  // namespace tare
