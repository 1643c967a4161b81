// SPDX-License-Identifier: BSD-3-Clause
#include "model/linear/ridge.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <chrono>
#include <cmath>

#include "io/tensor_store.h"
#include "model/sample.h"
#include "tare/base/error.h"

namespace tare {
namespace {

using Exact = long double;
using ExactMatrix = Eigen::Matrix<Exact, Eigen::Dynamic, Eigen::Dynamic>;
using ExactVector = Eigen::Matrix<Exact, Eigen::Dynamic, 1>;

/// Ridge regression the slow way: normal equations and the hat matrix, in long double.
struct Naive {
  ExactVector fitted;
  Exact score;
};

Naive naive_ridge(const Sample& sample, Exact penalty) {
  const auto n = static_cast<Eigen::Index>(sample.y.size());
  const auto d = static_cast<Eigen::Index>(sample.x.cols());
  ExactMatrix x(n, d);
  ExactVector y(n), w = ExactVector::Ones(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    y[i] = sample.y[row];
    if (!sample.weight.empty()) w[i] = sample.weight[row];
    for (Eigen::Index j = 0; j < d; ++j) x(i, j) = sample.x(row, static_cast<std::size_t>(j));
  }
  w /= w.sum();
  const Exact mean = w.dot(y);
  for (Eigen::Index j = 0; j < d; ++j) {
    x.col(j).array() -= w.dot(x.col(j));
    const Exact variance = (w.array() * x.col(j).array().square()).sum();
    if (variance > 0) x.col(j) /= std::sqrt(variance);
  }
  const ExactMatrix weighted = w.asDiagonal() * x;
  const ExactMatrix normal = x.transpose() * weighted + penalty * ExactMatrix::Identity(d, d);
  const ExactMatrix hat = x * normal.ldlt().solve(weighted.transpose());
  const ExactVector centred = y.array() - mean;
  Naive naive;
  naive.fitted = (hat * centred).array() + mean;
  const Exact error = (w.array() * (y - naive.fitted).array().square()).sum();
  const Exact share = 1 - (1 + hat.trace()) / static_cast<Exact>(n);
  naive.score = error / (share * share);
  return naive;
}

double penalty_of(const Regressor& model) {
  TensorStore store;
  model.save(TensorWriter(store));
  return TensorReader(store).get<double>("penalty");
}

std::unique_ptr<Regressor> fit(const Sample& sample, const char* options = "") {
  return fit_ridge(sample.data(), Params::parse(options), Seed{}, Execution{});
}

class RidgeAgainstNaive : public testing::TestWithParam<int> {};

TEST_P(RidgeAgainstNaive, FitsAsTheNormalEquationsSay) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  // Both sides of rows = columns, so both ways of solving it.
  Sample sample = make_sample(12 + 5 * (seed % 4), 3 + 6 * (seed % 5), Seed{seed}, 1.0);
  Rng rng(Seed{seed + 100});
  for (std::size_t i = 0; i < sample.y.size(); ++i) sample.weight.push_back(rng.uniform(0.2, 3.0));
  const auto model = fit(sample, "penalty=0.3");
  const Naive naive = naive_ridge(sample, 0.3);
  const auto fitted = predictions(*model, sample.x);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    // 1e-9: double against long double, condition number below 1e4.
    EXPECT_NEAR(fitted[i], static_cast<double>(naive.fitted[static_cast<Eigen::Index>(i)]), 1e-9);
  }
}

TEST_P(RidgeAgainstNaive, ChoosesThePenaltyOfTheLowestGcvScore) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  const Sample sample = make_sample(30, 4 + seed, Seed{seed}, 1.0 + static_cast<double>(seed % 4));
  const double chosen = penalty_of(*fit(sample));
  const Exact score = naive_ridge(sample, chosen).score;
  for (std::size_t k = 0; k < RidgePenalties::kCount; ++k) {
    const double other = RidgePenalties::at(k);
    if (other < 1e-6) continue;  // the oracle's own equations are singular to many digits below
    EXPECT_LE(score, naive_ridge(sample, other).score * (1 + 1e-9L)) << chosen << " " << other;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RidgeAgainstNaive, testing::Range(0, 12));

TEST(Ridge, RecoversALineWithoutNoise) {
  Sample sample = make_sample(60, 3, Seed{1});
  for (std::size_t i = 0; i < 60; ++i) sample.y[i] = 4.0 - 2.0 * sample.x(i, 0) + sample.x(i, 2);
  const auto fitted = predictions(*fit(sample), sample.x);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(fitted[i], sample.y[i], 1e-8);
}

TEST(Ridge, IntegerWeightEqualsRepeatingTheRow) {
  Sample weighted = make_sample(40, 3, Seed{2});
  Sample repeated{Matrix(), {}, {}};
  std::vector<double> rows;
  for (std::size_t i = 0; i < 40; ++i) {
    weighted.weight.push_back(static_cast<double>(1 + i % 3));
    for (std::size_t k = 0; k < 1 + i % 3; ++k) {
      rows.insert(rows.end(), weighted.x.row(i).begin(), weighted.x.row(i).end());
      repeated.y.push_back(weighted.y[i]);
    }
  }
  repeated.x = Matrix(rows, repeated.y.size(), 3);
  const auto a = predictions(*fit(weighted, "penalty=0.05"), weighted.x);
  const auto b = predictions(*fit(repeated, "penalty=0.05"), weighted.x);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
}

TEST(Ridge, ACopyOfAColumnChangesNothingWithoutPenalty) {
  const Sample one = make_sample(200, 2, Seed{3});
  Sample two = make_sample(200, 3, Seed{3});
  two.y = one.y;
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < 3; ++j) two.x(i, j) = one.x(i, j % 2);
  }
  const auto a = predictions(*fit(one, "penalty=0"), one.x);
  const auto b = predictions(*fit(two, "penalty=0"), two.x);
  for (std::size_t i = 0; i < 200; ++i) EXPECT_NEAR(a[i], b[i], 1e-9);
}

TEST(Ridge, PureNoiseIsShrunkToTheMean) {
  Sample sample = make_sample(500, 20, Seed{4});
  Rng rng(Seed{5});
  for (double& y : sample.y) y = rng.normal();
  double spread = 0.0;
  for (const double value : predictions(*fit(sample), sample.x)) spread += value * value / 500.0;
  EXPECT_LT(spread, 0.05);  // least squares would leave 20 / 500 = 0.04 and more
}

TEST(Ridge, ManyMoreColumnsThanRowsAreSolvedThroughTheRows) {
  const Sample sample = make_sample(200, 2000, Seed{6});
  const auto start = std::chrono::steady_clock::now();
  const auto model = fit(sample);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  // 0.1 s when optimised; 2000 x 2000 eigenvectors would take over ten times that. With sanitizers
  // 3 s.
  EXPECT_LT(taken.count(), 20.0);
  for (const double value : predictions(*model, sample.x)) EXPECT_TRUE(std::isfinite(value));
}

TEST(Ridge, AFileWithAnInfiniteCoefficientIsCorrupt) {
  TensorStore store;
  fit(make_sample(20, 2, Seed{7}))->save(TensorWriter(store));
  TensorWriter(store).tensor("coefficient", std::vector<double>{1.0, INFINITY});
  try {
    load_ridge(TensorReader(store));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorruptFile);
  }
}

}  // namespace
}  // namespace tare
