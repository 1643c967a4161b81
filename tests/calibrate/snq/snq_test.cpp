// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/snq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "calibrate/snq/snq_oracle.h"
#include "draws.h"
#include "io/tensor_store.h"
#include "tare/base/error.h"
#include "tare/base/rng.h"

namespace tare {
namespace {

using oracle::Fraction;

/// How the random cases differ: smooth data, a coarse grid full of ties and duplicates, or
/// everything equal.
enum class Texture { kSmooth, kGrid, kConstant };
enum class Weights { kNone, kWhole, kReal };

struct Case {
  Matrix z;
  std::vector<double> u;
  std::vector<double> weight;
};

Case random_case(Rng& rng, std::size_t rows, std::size_t dims, Texture texture, Weights weights) {
  Case c{Matrix(rows, dims), std::vector<double>(rows), {}};
  const auto coordinate = [&] {
    // Quarters are exact in binary: distances and rims of windows are then exact as well.
    if (texture == Texture::kGrid) return 0.25 * static_cast<double>(rng.below(9));
    return texture == Texture::kSmooth ? rng.uniform(0.0, 2.0) : 1.0;
  };
  for (double& value : c.z.values()) value = coordinate();
  for (double& value : c.u) {
    value = texture == Texture::kGrid ? static_cast<double>(rng.below(5)) : rng.normal();
  }
  for (std::size_t i = 0; i < rows && weights != Weights::kNone; ++i) {
    c.weight.push_back(weights == Weights::kWhole ? static_cast<double>(rng.below(4))
                                                  : rng.uniform());
  }
  if (!c.weight.empty()) c.weight[0] = 1.0;  // never all zero
  return c;
}

const std::vector<Fraction> kFractions = {{1, 1000}, {1, 100},  {5, 100},  {7, 100},
                                          {1, 10},   {25, 100}, {5, 10},   {6, 10},
                                          {75, 100}, {93, 100}, {95, 100}, {999, 1000}};

std::vector<Level> levels_of(const std::vector<Fraction>& fractions) {
  std::vector<Level> levels;
  for (const Fraction& f : fractions) levels.emplace_back(f.value());
  return levels;
}

using KernelAndIndex = std::tuple<KernelKind, std::string>;

class SnqAgainstOracle : public testing::TestWithParam<KernelAndIndex> {};

TEST_P(SnqAgainstOracle, GivesTheAnswerOfTheDefinition) {
  const auto [kernel, index] = GetParam();
  const std::vector<Level> levels = levels_of(kFractions);
  Rng rng(Seed{17});
  std::size_t fallbacks = 0;
  for (int trial = 0; trial < static_cast<int>(draws(60)); ++trial) {
    const auto texture = static_cast<Texture>(trial % 3);
    const auto weights = static_cast<Weights>((trial / 3) % 3);
    const std::size_t rows =
        trial % 10 == 9 ? 700 : 1 + rng.below(60);  // also over a chunk's length
    const std::size_t dims = 1 + rng.below(4);
    const Case c = random_case(rng, rows, dims, texture, weights);
    SnqOptions options;
    options.kernel = kernel;
    options.bandwidth = kernel == KernelKind::kKnn ? static_cast<double>(1 + rng.below(rows + 3))
                                                   : 0.25 * static_cast<double>(1 + rng.below(8));
    options.fallback = trial % 2 == 0 ? Fallback::kNearest : Fallback::kMarginal;
    options.min_support = 1 + rng.below(12);
    options.index = index;
    Case queries = random_case(rng, 12, dims, texture, Weights::kNone);
    for (double& value : queries.z.row(0)) value += 40'000.0;  // one far outside
    for (const Ranks ranks : {Ranks::kPaper, Ranks::kExpected}) {
      options.ranks = ranks;
      const Snq snq(c.z, c.u, c.weight, options);
      ASSERT_EQ(snq.index(), index);
      const Prediction prediction = snq.predict(queries.z, levels);
      for (std::size_t q = 0; q < queries.z.rows(); ++q) {
        const auto row = queries.z.row(q);
        const std::vector<double> point(row.begin(), row.end());
        for (std::size_t j = 0; j < levels.size(); ++j) {
          const auto expected = oracle::answer(c.z, c.u, c.weight, options, point, kFractions[j]);
          const double actual = prediction.quantiles(q, j);
          ASSERT_GE(actual, expected.lowest) << "trial " << trial << ", query " << q << ", level "
                                             << levels[j].value() << ", " << ranks_name(ranks);
          ASSERT_LE(actual, expected.highest) << "trial " << trial << ", query " << q << ", level "
                                              << levels[j].value() << ", " << ranks_name(ranks);
          ASSERT_EQ(prediction.fallback[q] != 0, expected.fallback);
          // 1e-9: sums of at most 700 doubles, and the exponential, are good to 1e-12.
          ASSERT_NEAR(prediction.window_n[q], static_cast<double>(expected.effective_n),
                      1e-9 * static_cast<double>(expected.effective_n));
          ASSERT_NEAR(prediction.nearest[q], expected.nearest, 1e-12 * (1.0 + expected.nearest));
        }
        fallbacks += prediction.fallback[q];
      }
    }
  }
  if (kernel != KernelKind::kKnn) {
    EXPECT_GT(fallbacks, draws(20)) << "the fallback was hardly tried";
  }
}

std::string kernel_and_index(const testing::TestParamInfo<KernelAndIndex>& info) {
  return std::string(kernel_name(std::get<0>(info.param))) + "_" + std::get<1>(info.param);
}

INSTANTIATE_TEST_SUITE_P(AllKernels, SnqAgainstOracle,
                         testing::Combine(testing::ValuesIn(kAllKernels), testing::Values("brute")),
                         kernel_and_index);
// The tree cuts gaussian and laplace weights off: index_test.cpp says how far that may go.
INSTANTIATE_TEST_SUITE_P(KernelsWithAnEnd, SnqAgainstOracle,
                         testing::Combine(testing::Values(KernelKind::kNaive,
                                                          KernelKind::kEpanechnikov,
                                                          KernelKind::kTriangular,
                                                          KernelKind::kTricube, KernelKind::kKnn),
                                          testing::Values("tree")),
                         kernel_and_index);

TEST(Snq, ALevelIsTheDecimalThatWasWritten) {
  // 0.07 * 100 is 7.000000000000001 in doubles; the seventh smallest of a hundred is meant all the
  // same.
  Matrix z(100, 1);
  std::vector<double> u(100);
  for (std::size_t i = 0; i < 100; ++i) u[i] = static_cast<double>(i + 1);
  const Snq snq(z, u, {}, {.kernel = KernelKind::kNaive});
  for (int percent = 1; percent < 100; ++percent) {
    const Level level(percent / 100.0);
    EXPECT_EQ(snq.predict(Matrix(1, 1), {{level}}).quantiles(0, 0), percent);
  }
}

TEST(Snq, QuantilesNeverCrossForAnyKernel) {
  Rng rng(Seed{3});
  const std::vector<Level> levels = metric_levels();
  for (const KernelKind kernel : kAllKernels) {
    const Case c = random_case(rng, 300, 2, Texture::kSmooth, Weights::kReal);
    const Snq snq(c.z, c.u, c.weight,
                  {.kernel = kernel, .bandwidth = kernel == KernelKind::kKnn ? 30.0 : 0.3});
    const Case queries = random_case(rng, 100, 2, Texture::kSmooth, Weights::kNone);
    const Prediction prediction = snq.predict(queries.z, levels);
    for (std::size_t i = 0; i < 100; ++i) {
      const auto row = prediction.quantiles.row(i);
      EXPECT_TRUE(std::is_sorted(row.begin(), row.end())) << kernel_name(kernel);
    }
  }
}

TEST(Snq, LevelsComeOutInTheOrderGivenWithRepetitions) {
  Rng rng(Seed{4});
  const Case c = random_case(rng, 200, 1, Texture::kSmooth, Weights::kNone);
  const Snq snq(c.z, c.u, {}, {.bandwidth = 0.5});
  const std::vector<Level> mixed = {Level{0.9}, Level{0.1}, Level{0.9}, Level{0.5}};
  const Prediction all = snq.predict(c.z, mixed);
  for (std::size_t j = 0; j < mixed.size(); ++j) {
    const Prediction one = snq.predict(c.z, {{mixed[j]}});
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(all.quantiles(i, j), one.quantiles(i, 0));
  }
}

TEST(Snq, AWholeWeightEqualsARepeatedRow) {
  Rng rng(Seed{5});
  for (const KernelKind kernel : kAllKernels) {
    if (kernel == KernelKind::kKnn) continue;  // k counts rows, and a repeated row is several
    const Case c = random_case(rng, 80, 2, Texture::kSmooth, Weights::kWhole);
    std::vector<double> rows;
    std::vector<double> u;
    for (std::size_t i = 0; i < 80; ++i) {
      for (int copy = 0; copy < static_cast<int>(c.weight[i]); ++copy) {
        rows.insert(rows.end(), c.z.row(i).begin(), c.z.row(i).end());
        u.push_back(c.u[i]);
      }
    }
    const Matrix repeated(rows, u.size(), 2);
    const SnqOptions options{.kernel = kernel, .bandwidth = 0.6};
    const Case queries = random_case(rng, 30, 2, Texture::kSmooth, Weights::kNone);
    const auto levels = metric_levels();
    const Prediction weighted = Snq(c.z, c.u, c.weight, options).predict(queries.z, levels);
    const Prediction copied = Snq(repeated, u, {}, options).predict(queries.z, levels);
    for (std::size_t i = 0; i < 30; ++i) {
      if (weighted.fallback[i] != 0) continue;  // the nearest rows are counted, too
      for (std::size_t j = 0; j < levels.size(); ++j) {
        EXPECT_EQ(weighted.quantiles(i, j), copied.quantiles(i, j)) << kernel_name(kernel);
      }
    }
  }
}

TEST(Snq, AnInfiniteBandwidthIsTheMarginalQuantile) {
  Rng rng(Seed{6});
  const Case c = random_case(rng, 100, 3, Texture::kSmooth, Weights::kNone);
  std::vector<double> sorted = c.u;
  std::sort(sorted.begin(), sorted.end());
  for (const KernelKind kernel : kAllKernels) {
    const Snq snq(c.z, c.u, {},
                  {.kernel = kernel, .bandwidth = std::numeric_limits<double>::infinity()});
    const Prediction p = snq.predict(c.z, {{Level{0.25}, Level{0.9}}});
    EXPECT_EQ(p.quantiles(7, 0), sorted[24]);
    EXPECT_EQ(p.quantiles(7, 1), sorted[89]);
    EXPECT_DOUBLE_EQ(p.window_n[7], 100.0);
  }
}

TEST(Snq, ThreadsDoNotChangeAByte) {
  Rng rng(Seed{7});
  const Case c = random_case(rng, 500, 3, Texture::kSmooth, Weights::kReal);
  const Case queries = random_case(rng, 400, 3, Texture::kSmooth, Weights::kNone);
  const Snq snq(c.z, c.u, c.weight, {.bandwidth = 0.4});
  const auto levels = metric_levels();
  const Prediction one = snq.predict(queries.z, levels, {.threads = 1, .progress = {}});
  for (const std::size_t threads : {2U, 8U}) {
    const Prediction many = snq.predict(queries.z, levels, {.threads = threads, .progress = {}});
    EXPECT_TRUE(std::ranges::equal(one.quantiles.values(), many.quantiles.values()));
    EXPECT_EQ(one.window_n, many.window_n);
  }
}

TEST(Snq, SurvivesFeaturesWhoseSquaresOverflow) {
  const Matrix z(std::vector<double>{1e200, -1e200, 0.0}, 3, 1);
  const std::vector<double> u = {1.0, 2.0, 3.0};
  for (const KernelKind kernel : kAllKernels) {
    const Snq snq(z, u, {}, {.kernel = kernel, .bandwidth = 1.0, .min_support = 3});
    const Prediction p = snq.predict(Matrix(std::vector<double>{5e200}, 1, 1), {{Level{0.5}}});
    EXPECT_GE(p.quantiles(0, 0), 1.0) << kernel_name(kernel);
    EXPECT_LE(p.quantiles(0, 0), 3.0) << kernel_name(kernel);
  }
}

TEST(Snq, SavedAndLoadedPredictsTheSame) {
  Rng rng(Seed{8});
  const Case c = random_case(rng, 100, 2, Texture::kSmooth, Weights::kReal);
  const Snq snq(c.z, c.u, c.weight,
                {.kernel = KernelKind::kTricube,
                 .bandwidth = 0.7,
                 .min_support = 5,
                 .ranks = Ranks::kExpected});
  TensorStore store;
  snq.save(TensorWriter(store));
  const Snq loaded = Snq::load(TensorReader(store));
  const auto levels = metric_levels();
  EXPECT_EQ(loaded.options().ranks, Ranks::kExpected);
  EXPECT_TRUE(std::ranges::equal(snq.predict(c.z, levels).quantiles.values(),
                                 loaded.predict(c.z, levels).quantiles.values()));
}

TEST(Snq, RefusesWhatItCannotUse) {
  const Matrix z(3, 2);
  const std::vector<double> u(3, 0.0);
  const auto code = [](auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      return std::string(error.what()).empty() ? -2 : static_cast<int>(error.code());
    }
    return -1;
  };
  const auto is = [](ErrorCode expected) { return static_cast<int>(expected); };
  EXPECT_EQ(code([&] { Snq(z, std::vector<double>(2), {}, {}); }), is(ErrorCode::kShapeMismatch));
  EXPECT_EQ(code([&] { Snq(z, u, std::vector<double>(1), {}); }), is(ErrorCode::kShapeMismatch));
  EXPECT_EQ(code([&] { Snq(z, u, {}, {.bandwidth = 1e-200}); }), is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] { Snq(z, u, {}, {.bandwidth = 1e200}); }), is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] { Snq(z, u, {}, {.bandwidth = 0.0}); }), is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] { Snq(z, u, {}, {.bandwidth = std::nan("")}); }),
            is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] { Snq(z, u, {}, {.kernel = KernelKind::kKnn, .bandwidth = 1.5}); }),
            is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] { Snq(z, u, std::vector<double>(3, 0.0), {}); }),
            is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] {
              Snq(z, u, std::vector<double>{1, -1, 1}, {});
            }),
            is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] {
              Snq(z, std::vector<double>{0, 0, INFINITY}, {}, {});
            }),
            is(ErrorCode::kInvalidArgument));
  EXPECT_EQ(code([&] { Snq(z, u, {}, {}).predict(Matrix(1, 3), {{Level{0.5}}}); }),
            is(ErrorCode::kShapeMismatch));
}

}  // namespace
}  // namespace tare
