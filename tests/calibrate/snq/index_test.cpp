// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/snq/engine/engine.h"
#include "calibrate/snq/snq_index.h"
#include "io/tensor_store.h"
#include "kernel_oracle.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

// Every index against brute force, on more rows than the oracle of snq_test.cpp could bear.
namespace tare {
namespace {

struct Sample {
  Matrix z;
  std::vector<double> u;
  std::vector<double> weight;
};

/// Rows with clusters, a lattice's ties, duplicates and columns of different width.
Sample random_sample(Rng& rng, std::size_t rows, std::size_t dims, int texture, bool weighted) {
  Sample s{Matrix(rows, dims), std::vector<double>(rows), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < dims; ++j) {
      double value = texture == 1 ? std::floor(6.0 * rng.uniform()) : rng.normal();
      if (texture == 2) value = (rng.below(3) == 0 ? 0.05 : 1.0) * value + (j == 0 ? 3.0 : 0.0);
      s.z(i, j) = value * (j == 1 ? 4.0 : 1.0);
    }
    if (i > 0 && rng.below(20) == 0) {  // a duplicate
      const std::size_t twin = rng.below(i);
      for (std::size_t j = 0; j < dims; ++j) s.z(i, j) = s.z(twin, j);
    }
    s.u[i] = texture == 1 ? std::floor(10.0 * rng.normal()) : rng.normal() * (1.0 + s.z(i, 0));
    if (weighted) s.weight.push_back(static_cast<double>(rng.below(3)));
  }
  if (weighted) s.weight[0] = 1.0;
  return s;
}

Matrix random_queries(Rng& rng, const Sample& s, std::size_t count) {
  Matrix q(count, s.z.cols());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t near = rng.below(s.z.rows());
    for (std::size_t j = 0; j < q.cols(); ++j) {
      q(i, j) = s.z(near, j) + (rng.below(2) == 0 ? 0.0 : 0.3 * rng.normal());
    }
  }
  for (double& value : q.row(0)) value += 1e4;    // far from all
  for (double& value : q.row(1)) value = -1e160;  // its squared distances overflow
  return q;
}

std::vector<Level> some_levels() {
  std::vector<Level> levels;
  for (const double tau : {0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999}) {
    levels.emplace_back(tau);
  }
  return levels;
}

class SmallWindows : public testing::TestWithParam<KernelKind> {};

TEST_P(SmallWindows, AreThoseOfBruteForceWhateverTheIndex) {
  Rng rng(Seed{3});
  std::map<std::string_view, int> tested;
  for (int trial = 0; trial < 36; ++trial) {
    const std::size_t dims = 1 + static_cast<std::size_t>(trial) % 9;
    const std::size_t rows = trial % 4 == 0 ? 1 + rng.below(40) : 200 + rng.below(2'500);
    const Sample s = random_sample(rng, rows, dims, trial % 3, trial % 5 == 4);
    const Matrix queries = random_queries(rng, s, 150);
    SnqOptions options{.kernel = GetParam(), .index = "brute"};
    options.fallback = trial % 2 == 0 ? Fallback::kNearest : Fallback::kMarginal;
    options.ranks = trial / 2 % 2 == 0 ? Ranks::kPaper : Ranks::kExpected;
    options.bandwidth =
        GetParam() == KernelKind::kKnn
            ? static_cast<double>(1 + rng.below(rows + 5))
            : std::vector{0.05, 0.3, 1.0, 2.0, 30.0}[static_cast<std::size_t>(trial) % 5];
    // With weights, though all are 1, every row is measured and weighed for every query.
    const auto weights = s.weight.empty() ? std::vector<double>(rows, 1.0) : s.weight;
    const Prediction expected = Snq(s.z, s.u, weights, options).predict(queries, some_levels());
    const LocalSample sample(s.z, s.u, s.weight);
    for (const SnqEngineInfo& engine : snq_engines()) {
      if (!engine.takes_kernel(GetParam()) || !engine.serves(sample, options)) continue;
      ++tested[engine.name];
      options.index = engine.name;
      const Snq snq(s.z, s.u, s.weight, options);
      ASSERT_EQ(snq.index(), engine.name);
      const Prediction actual = snq.predict(queries, some_levels());
      EXPECT_EQ(actual.fallback, expected.fallback) << "trial " << trial;
      EXPECT_EQ(actual.window_n, expected.window_n) << "trial " << trial;
      EXPECT_EQ(actual.nearest, expected.nearest) << "trial " << trial;
      ASSERT_TRUE(std::ranges::equal(actual.quantiles.values(), expected.quantiles.values()))
          << "trial " << trial << ", " << rows << " rows, " << dims << " features";

      // One query at a time, on one thread, and without the nearest rows, gives the same.
      Execution one;
      one.diagnostics = false;
      ASSERT_TRUE(std::ranges::equal(snq.predict(queries, some_levels(), one).quantiles.values(),
                                     expected.quantiles.values()));
      one.threads = 1;
      for (std::size_t i = 0; i < 10; ++i) {
        const Prediction alone = snq.predict(queries.view().middle_rows(i, 1), some_levels(), one);
        ASSERT_TRUE(std::ranges::equal(alone.quantiles.values(), expected.quantiles.row(i)));
        EXPECT_TRUE(alone.nearest.empty());
      }
    }
  }
  for (const SnqEngineInfo& engine : snq_engines()) {
    EXPECT_EQ(tested[engine.name] > 0, engine.takes_kernel(GetParam())) << engine.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, SmallWindows,
                         testing::Values(KernelKind::kNaive, KernelKind::kKnn),
                         [](const auto& kind) { return std::string(kernel_name(kind.param)); });

TEST(Windows, OfTheNearestRowsDoNotDependOnTheLastBit) {
  // Decimals, so that rows on both sides of a query are equally far but for rounding.
  Rng rng(Seed{14});
  for (const std::size_t dims : {1U, 2U}) {
    Matrix z(800, dims);
    for (double& value : z.values()) value = 0.1 * static_cast<double>(rng.below(40));
    std::vector<double> u(800);
    for (double& value : u) value = rng.normal();
    Matrix queries(300, dims);
    for (double& value : queries.values()) value = 0.1 * static_cast<double>(rng.below(40));
    const auto moved = [](Matrix m, double towards) {
      for (double& value : m.values()) value = std::nextafter(value, towards);
      return m;
    };
    for (const std::string index : {"brute", "tree", "line"}) {
      if (index == "line" && dims > 1) continue;
      const SnqOptions options{.kernel = KernelKind::kKnn, .bandwidth = 30.0, .index = index};
      const Prediction before = Snq(z, u, {}, options).predict(queries, some_levels());
      for (const double towards : {-100.0, 100.0}) {
        const auto same = [&](const Matrix& rows, const Matrix& asked) {
          const Prediction after = Snq(rows, u, {}, options).predict(asked, some_levels());
          return std::ranges::equal(after.quantiles.values(), before.quantiles.values());
        };
        EXPECT_TRUE(same(z, moved(queries, towards))) << index;
        EXPECT_TRUE(same(moved(z, towards), queries)) << index;
        EXPECT_TRUE(same(moved(z, towards), moved(queries, towards))) << index;
      }
      SnqOptions exact = options;
      exact.tie_tolerance = 0.0;
      const Prediction plain = Snq(z, u, {}, exact).predict(queries, some_levels());
      EXPECT_FALSE(std::ranges::equal(plain.quantiles.values(), before.quantiles.values()))
          << "without a tolerance the last bit was not felt: the test says nothing";
    }
  }
}

TEST(Windows, OfManyRowsAreThoseOfBruteForce) {
  // So many rows that they may stand in boxes, with windows small enough for that and too large.
  Rng rng(Seed{8});
  for (const std::size_t dims : {2U, 5U, 8U}) {
    const Sample s = random_sample(rng, 6'000, dims, 0, false);
    const std::vector<double> ones(s.u.size(), 1.0);
    const Matrix queries = random_queries(rng, s, 70);
    for (const double bandwidth : {0.4, 1.5, 6.0}) {
      const SnqOptions options{.kernel = KernelKind::kNaive,
                               .bandwidth = bandwidth,
                               .index = "brute",
                               .ranks = dims == 5 ? Ranks::kPaper : Ranks::kExpected};
      const Prediction expected = Snq(s.z, s.u, ones, options).predict(queries, some_levels());
      const Prediction actual = Snq(s.z, s.u, {}, options).predict(queries, some_levels());
      EXPECT_EQ(actual.fallback, expected.fallback);
      EXPECT_EQ(actual.window_n, expected.window_n);
      EXPECT_EQ(actual.nearest, expected.nearest);
      EXPECT_TRUE(std::ranges::equal(actual.quantiles.values(), expected.quantiles.values()))
          << dims << " features, bandwidth " << bandwidth;
    }
  }
}

/// The kernel's weights by definition.
std::vector<double> true_weights(const Sample& s, std::span<const double> query,
                                 const SnqOptions& options) {
  std::vector<double> weights(s.u.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    double r2 = 0.0;
    for (std::size_t j = 0; j < query.size(); ++j) {
      r2 += (s.z(i, j) - query[j]) * (s.z(i, j) - query[j]);
    }
    weights[i] = static_cast<double>(oracle::kernel(options.kernel, r2, options.bandwidth));
    if (!s.weight.empty()) weights[i] *= s.weight[i];
  }
  return weights;
}

class CutKernels : public testing::TestWithParam<KernelKind> {};

TEST_P(CutKernels, LeaveOutLessThanAMillionth) {
  Rng rng(Seed{4});
  for (int trial = 0; trial < 12; ++trial) {
    const std::size_t dims = 1 + static_cast<std::size_t>(trial) % 4;
    const Sample s = random_sample(rng, 1'500, dims, trial % 3, trial % 4 == 3);
    const Matrix queries = random_queries(rng, s, 40);
    const SnqOptions options{
        .kernel = GetParam(), .bandwidth = trial % 2 == 0 ? 0.03 : 0.2, .index = "tree"};
    const auto levels = some_levels();
    const Prediction p = Snq(s.z, s.u, s.weight, options).predict(queries, levels);
    for (std::size_t q = 0; q < queries.rows(); ++q) {
      if (p.fallback[q] != 0) continue;
      const auto weights = true_weights(s, queries.row(q), options);
      double total = 0.0;
      for (const double w : weights) total += w;
      if (!(total > 1e-130)) continue;
      for (std::size_t j = 0; j < levels.size(); ++j) {
        double below = 0.0;
        double up_to = 0.0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
          if (s.u[i] < p.quantiles(q, j)) below += weights[i];
          if (s.u[i] <= p.quantiles(q, j)) up_to += weights[i];
        }
        // 2e-6: what is left out counts once in the sum and once in the total.
        EXPECT_LE(below, (levels[j].value() + 2e-6) * total) << "trial " << trial << " query " << q;
        EXPECT_GE(up_to, (levels[j].value() - 2e-6) * total) << "trial " << trial << " query " << q;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, CutKernels,
                         testing::Values(KernelKind::kGaussian, KernelKind::kLaplace),
                         [](const auto& kind) { return std::string(kernel_name(kind.param)); });

TEST(Index, IsTakenByWhatItCosts) {
  Rng rng(Seed{5});
  const auto taken = [&](std::size_t rows, std::size_t dims, KernelKind kernel, double bandwidth) {
    const Sample s = random_sample(rng, rows, dims, 0, false);
    return Snq(s.z, s.u, {}, {.kernel = kernel, .bandwidth = bandwidth}).index();
  };
  EXPECT_EQ(taken(200, 2, KernelKind::kNaive, 0.1), "brute");
  EXPECT_EQ(taken(20'000, 1, KernelKind::kNaive, 0.1), "line");
  EXPECT_EQ(taken(20'000, 2, KernelKind::kNaive, 0.1), "tree");
  EXPECT_EQ(taken(20'000, 2, KernelKind::kKnn, 100.0), "tree");
  EXPECT_EQ(taken(20'000, 2, KernelKind::kGaussian, 0.01), "tree");
  EXPECT_EQ(taken(5'000, 2, KernelKind::kGaussian, 1.0), "dense");
  EXPECT_EQ(taken(5'000, 20, KernelKind::kNaive, 9.0), "brute");
  EXPECT_EQ(taken(5'000, 20, KernelKind::kTricube, 9.0), "brute");
  EXPECT_EQ(taken(5'000, 2, KernelKind::kGaussian, std::numeric_limits<double>::infinity()),
            "brute");
}

TEST(Index, TakesAsManyThreadsAsTheWorkIsWorth) {
  EXPECT_EQ(worthwhile_threads(8, 0.0), 1U);
  EXPECT_EQ(worthwhile_threads(8, 1e5), 1U);  // a tenth of a millisecond
  EXPECT_EQ(worthwhile_threads(8, 1e6), 4U);  // a millisecond
  EXPECT_EQ(worthwhile_threads(8, 1e8), 8U);
  EXPECT_EQ(worthwhile_threads(1, 1e12), 1U);
}

TEST(Index, AnswersQueriesThatAreNoNumbersFromAllRows) {
  Rng rng(Seed{7});
  for (const std::size_t dims : {1U, 2U, 6U}) {
    const Sample s = random_sample(rng, 3'000, dims, 0, false);
    Matrix queries = random_queries(rng, s, 200);
    for (std::size_t i = 2; i < queries.rows(); i += 3) {
      queries(i, i % dims) = i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                        : std::numeric_limits<double>::infinity();
    }
    for (const KernelKind kernel : {KernelKind::kNaive, KernelKind::kKnn, KernelKind::kGaussian}) {
      SnqOptions options{.kernel = kernel, .index = "brute"};
      options.bandwidth = kernel == KernelKind::kKnn ? 30.0 : 0.5;
      const Prediction expected = Snq(s.z, s.u, {}, options).predict(queries, some_levels());
      for (const std::string index : {"tree", "line", "dense"}) {
        if (index == "line" && (dims > 1 || kernel == KernelKind::kGaussian)) continue;
        if (index == "dense" && kernel != KernelKind::kGaussian) continue;
        options.index = index;
        const Prediction actual = Snq(s.z, s.u, {}, options).predict(queries, some_levels());
        for (std::size_t i = 2; i < queries.rows(); i += 3) {
          EXPECT_TRUE(std::ranges::equal(actual.quantiles.row(i), expected.quantiles.row(i)))
              << kernel_name(kernel) << ", " << index << ", query " << i;
          EXPECT_EQ(actual.fallback[i], expected.fallback[i]);
          EXPECT_EQ(actual.nearest[i], expected.nearest[i]);
        }
      }
    }
  }
}

TEST(Index, OptionsOfAFileThatNobodyCouldAskForAreDamage) {
  Rng rng(Seed{9});
  const Sample s = random_sample(rng, 50, 2, 0, false);
  TensorStore store;
  Snq(s.z, s.u, {}, {.kernel = KernelKind::kNaive}).save(TensorWriter(store));
  EXPECT_NO_THROW(Snq::load(TensorReader(store)));
  const auto code_with = [&](const std::string& name, const Json& value) {
    TensorStore forged = store;
    forged.values.at(name) = value;
    try {
      Snq::load(TensorReader(forged));
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << name << " = " << value << " was loaded";
    return ErrorCode::kIo;
  };
  EXPECT_EQ(code_with("kernel", "square"), ErrorCode::kCorruptFile);
  EXPECT_EQ(code_with("bandwidth", -1.0), ErrorCode::kCorruptFile);
  EXPECT_EQ(code_with("min_support", 0), ErrorCode::kCorruptFile);
}

// A model that was fitted with an engine of another program opens everywhere.
TEST(Index, OfAFileIsAHint) {
  Rng rng(Seed{9});
  const Sample s = random_sample(rng, 50, 2, 0, false);
  const Snq made(s.z, s.u, {}, {.kernel = KernelKind::kNaive});
  TensorStore store;
  made.save(TensorWriter(store));
  const std::vector<Level> levels = {Level{0.1}, Level{0.5}};
  const Matrix expected = made.predict(s.z, levels).quantiles;
  for (const char* name : {"tree", "dense", "line", "grove"}) {
    TensorStore hinted = store;
    hinted.values.at("index") = name;
    const Snq loaded = Snq::load(TensorReader(hinted));
    EXPECT_EQ(loaded.index(), std::string_view(name) == "tree" ? "tree" : "brute") << name;
    EXPECT_TRUE(
        std::ranges::equal(loaded.predict(s.z, levels).quantiles.values(), expected.values()));
  }
}

TEST(Index, RefusesAKernelItIsNotMadeFor) {
  Rng rng(Seed{6});
  const Sample s = random_sample(rng, 50, 2, 0, false);
  EXPECT_THROW(Snq(s.z, s.u, {}, {.kernel = KernelKind::kNaive, .index = "dense"}), Error);
  EXPECT_THROW(Snq(s.z, s.u, {}, {.kernel = KernelKind::kNaive, .index = "line"}), Error);
  EXPECT_THROW(check_index("kdtree"), Error);
}

}  // namespace
}  // namespace tare
