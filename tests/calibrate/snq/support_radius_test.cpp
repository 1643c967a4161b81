// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/window/support_radius.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "expect_error.h"
#include "io/tensor_store.h"
#include "tare/base/rng.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/snq.h"

namespace tare {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Execution on_threads(std::size_t threads) {
  Execution how;
  how.threads = threads;
  return how;
}

BruteForce as_columns(const Matrix& z) {
  std::vector<std::size_t> order(z.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return {z, order};
}

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return std::sqrt(sum);
}

/// By looking at every pair; `elsewhere` passes over rows at distance 0.
double radius_of_all_pairs(const Matrix& z, bool elsewhere) {
  std::vector<double> gaps;
  for (std::size_t i = 0; i < z.rows(); ++i) {
    double gap = kNever;
    for (std::size_t k = 0; k < z.rows(); ++k) {
      const double d = distance(z.row(i), z.row(k));
      if (k != i && (!elsewhere || d > 0.0)) gap = std::min(gap, d);
    }
    gaps.push_back(gap);
  }
  std::ranges::sort(gaps);
  std::size_t rank = 1;  // of the first that at least 99 of 100 are no farther than
  while (100 * rank < 99 * gaps.size()) ++rank;
  if (gaps[rank - 1] > 0.0 || elsewhere) return gaps[rank - 1];
  const double other = radius_of_all_pairs(z, true);
  return std::isinf(other) ? 0.0 : other;
}

TEST(SupportRadius, IsThatOfAllPairs) {
  Rng rng(Seed{31});
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t rows = 2 + rng.below(trial % 10 == 0 ? 400 : 60);
    const std::size_t dims = 1 + rng.below(5);
    const std::size_t values = trial % 3 == 0 ? 2 : (trial % 3 == 1 ? 30 : 1'000'000);  // ties
    Matrix z(rows, dims);
    for (double& value : z.values()) value = 0.1 * static_cast<double>(rng.below(values));
    const double radius = support_radius(as_columns(z), on_threads(1));
    EXPECT_NEAR(radius, radius_of_all_pairs(z, false), 1e-12 * (1.0 + radius)) << "trial " << trial;
  }
}

TEST(SupportRadius, OfRowsThatSayNothing) {
  EXPECT_EQ(support_radius(as_columns(Matrix(1, 2)), {}), kNever);
  EXPECT_EQ(support_radius(as_columns(Matrix(5, 0)), {}), kNever);
  EXPECT_EQ(support_radius(as_columns(Matrix(5, 2, 3.0)), {}), 0.0);
}

Matrix cluster(std::size_t rows, std::size_t dims, Rng& rng) {
  Matrix z(rows, dims);
  for (double& value : z.values()) value = rng.normal();
  return z;
}

double share_outside(const Snq& snq, const Matrix& queries) {
  const Prediction p = snq.predict(queries, {});
  return std::accumulate(p.outside.begin(), p.outside.end(), 0.0) /
         static_cast<double>(queries.rows());
}

TEST(SnqSupport, OnePercentOfRowsLikeTheseAreOutsideAndFarOnesAll) {
  for (const std::size_t dims : {1u, 3u}) {
    Rng rng(Seed{32 + dims});
    const Matrix z = cluster(3000, dims, rng);
    const std::vector<double> u(z.rows(), 0.0);
    const Snq snq = Snq(z, u, {}, {}).with_support();
    // 20 of 2,000 sampled rows and 30 of 3,000 new ones are beyond: sd 0.3 %.
    EXPECT_NEAR(share_outside(snq, cluster(3000, dims, rng)), 0.01, 0.009) << dims;
    EXPECT_EQ(share_outside(snq, Matrix(3, dims, 50.0)), 1.0);
    EXPECT_EQ(share_outside(snq, Matrix(3, dims, std::nan(""))), 1.0);
    EXPECT_EQ(share_outside(snq, z), 0.0);
  }
}

TEST(SnqSupport, RepeatedRowsDoNotPutEverythingOutside) {
  Rng rng(Seed{35});
  const Matrix once = cluster(800, 2, rng);
  Matrix twice(1600, 2);
  for (std::size_t i = 0; i < twice.rows(); ++i) {
    std::ranges::copy(once.row(i / 2), twice.row(i).begin());
  }
  const Snq snq = Snq(twice, std::vector<double>(1600), {}, {}).with_support();
  EXPECT_LT(share_outside(snq, cluster(2000, 2, rng)), 0.03);
  EXPECT_EQ(share_outside(snq, Matrix(1, 2, 30.0)), 1.0);
}

TEST(SnqSupport, IsSavedAndMayBeMissing) {
  Rng rng(Seed{36});
  const Matrix z = cluster(100, 2, rng);
  const Snq plain(z, std::vector<double>(100), {}, {});
  EXPECT_EQ(plain.support_radius(), kNever);
  EXPECT_EQ(share_outside(plain, Matrix(1, 2, 1e6)), 0.0);
  for (const Snq& snq : {plain, plain.with_support()}) {
    TensorStore store;
    snq.save(TensorWriter(store));
    EXPECT_EQ(Snq::load(TensorReader(store)).support_radius(), snq.support_radius());
  }
  TensorStore damaged;
  plain.save(TensorWriter(damaged));
  TensorWriter(damaged).value("support_radius", -1.0);
  expect_error(ErrorCode::kCorruptFile, "support radius",
               [&] { Snq::load(TensorReader(damaged)); });
}

TEST(SnqSupport, IsNotAskedForWithoutDiagnostics) {
  const Snq snq = Snq(Matrix(3, 1), std::vector<double>(3), {}, {}).with_support();
  Execution quiet;
  quiet.diagnostics = false;
  EXPECT_TRUE(snq.predict(Matrix(2, 1), {}, quiet).outside.empty());
  EXPECT_EQ(snq.predict(Matrix(2, 1), {}).outside.size(), 2u);
}

TEST(SupportRadius, ThreadsDoNotChangeIt) {
  Rng rng(Seed{37});
  const BruteForce rows = as_columns(cluster(5000, 3, rng));
  EXPECT_EQ(support_radius(rows, on_threads(1)), support_radius(rows, on_threads(4)));
}

}  // namespace
}  // namespace tare
