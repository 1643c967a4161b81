// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/sparse_gp.h"

#include <gtest/gtest.h>

#include <numbers>

#include "model/gp/gp_oracle.h"
#include "model/nn/graph/operations.h"

namespace tare {
namespace {

using nn::Graph;
using nn::Var;

/// A layer with its parameters.
template <class T>
struct Filled {
  Filled(std::size_t points, std::size_t inputs, std::size_t outputs)
      : layer(layout, points, inputs, outputs), values(layout.size()) {
    Rng rng(Seed{5});
    fill_layer(layer, std::span<T>(values), rng);
  }
  DenseGp dense() const { return {layer, std::span<const T>(values)}; }

  nn::Layout layout;
  SparseGpLayer layer;
  std::vector<T> values;
};

void set(std::span<double> to, const Eigen::MatrixXd& from) {
  for (Eigen::Index i = 0; i < from.rows(); ++i) {
    for (Eigen::Index j = 0; j < from.cols(); ++j)
      to[static_cast<std::size_t>(i * from.cols() + j)] = from(i, j);
  }
}

TEST(SparseGp, DivergenceIsTheTextbooks) {
  const Filled<double> gp(30, 2, 3);
  Graph<double> graph(gp.values);
  const Var<double> divergence = gp.layer.divergence(graph);
  graph.forward();
  const double expected = gp.dense().divergence();
  EXPECT_NEAR(divergence.value()[0], expected, 1e-11 * expected);
}

TEST(SparseGp, LawsAreThoseOfTheDenseFormula) {
  const Filled<double> gp(30, 2, 3);
  Rng rng(Seed{6});
  Graph<double> graph(gp.values);
  const Var<double> x = graph.input(50, 2);
  for (double& value : x.value()) value = rng.normal();
  const auto law = gp.layer(x);
  graph.forward();
  const DenseGp dense = gp.dense();
  const Eigen::MatrixXd at = DenseGp::rows(std::span<const double>(x.value()), 2);
  const Eigen::MatrixXd mean = dense.mean_at(at);
  const Eigen::MatrixXd variance = dense.variance_at(at);
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
      // The oracle inverts a matrix of condition 1e6, and so may be off by 1e-10.
      EXPECT_NEAR(law.mean.value()[i * 3 + j], mean(r, c), 1e-8);
      EXPECT_NEAR(law.variance.value()[i * 3 + j], variance(r, c), 1e-8);
    }
  }
}

TEST(SparseGp, WithEveryRowAsAnInducingPointItIsExactRegression) {
  constexpr std::size_t kPoints = 24;
  constexpr double kNoise = 0.09;
  Filled<double> gp(kPoints, 1, 1);
  Eigen::VectorXd y(kPoints);
  Rng rng(Seed{7});
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double x = 0.4 * static_cast<double>(i) - 4.8;
    gp.layer.points.of(std::span<double>(gp.values))[i] = x;
    y[static_cast<Eigen::Index>(i)] = std::sin(x) + 0.3 * rng.normal();
  }
  gp.layer.length.of(std::span<double>(gp.values))[0] = -0.5;
  const DenseGp prior = gp.dense();
  const Eigen::MatrixXd k = prior.kernel(prior.z, prior.z);
  Eigen::MatrixXd noisy = k;
  noisy.diagonal().array() += kNoise;
  // The posterior of the values at the rows, whitened, is the best q there is.
  const Eigen::MatrixXd posterior = k - k * noisy.inverse() * k;
  const Eigen::MatrixXd to_white = prior.root().inverse();
  set(gp.layer.mean.of(std::span<double>(gp.values)), to_white * (k * noisy.inverse() * y));
  Eigen::MatrixXd white = to_white * posterior * to_white.transpose();
  set(gp.layer.factor[0].of(std::span<double>(gp.values)), white.llt().matrixL());

  Graph<double> graph(gp.values);
  const Var<double> x = graph.input(kPoints + 40, 1);
  set(x.value(), prior.z);
  for (std::size_t i = 0; i < 40; ++i)
    x.value()[kPoints + i] = 0.31 * static_cast<double>(i) - 6.0;  // beyond the rows too
  const auto law = gp.layer(x);
  const Var<double> divergence = gp.layer.divergence(graph);
  graph.forward();
  const Eigen::MatrixXd at = DenseGp::rows(std::span<const double>(x.value()), 1);
  const Eigen::MatrixXd across = prior.kernel(at, prior.z) * noisy.inverse();
  const Eigen::VectorXd mean = across * y;
  const Eigen::MatrixXd kept = across * prior.kernel(prior.z, at);
  // The jitter of 1e-5, through the rows' condition number of about 1e3 here.
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    EXPECT_NEAR(law.mean.value()[static_cast<std::size_t>(i)], mean[i], 1e-3);
    EXPECT_NEAR(law.variance.value()[static_cast<std::size_t>(i)], prior.variance - kept(i, i),
                1e-3);
  }

  // At the best q the bound is no bound but the log likelihood itself.
  double bound = -divergence.value()[0];
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double miss = y[static_cast<Eigen::Index>(i)] - law.mean.value()[i];
    bound -= 0.5 * (std::log(2.0 * std::numbers::pi * kNoise) +
                    (miss * miss + law.variance.value()[i]) / kNoise);
  }
  const double log_det = noisy.fullPivLu().matrixLU().diagonal().array().abs().log().sum();
  const double likelihood =
      -0.5 * (y.dot(noisy.inverse() * y) + log_det + kPoints * std::log(2.0 * std::numbers::pi));
  EXPECT_NEAR(bound, likelihood, 1e-2);
  EXPECT_LT(bound, likelihood + 1e-9);
}

TEST(SparseGp, FloatHoldsWhereThePointsAreCrowded) {
  // 128 points on a line, ten to a length: without jitter the matrix has rank 30 in float.
  Filled<float> gp(128, 1, 2);
  for (std::size_t i = 0; i < 128; ++i) gp.values[i] = 0.1F * static_cast<float>(i);
  gp.layer.length.of(std::span<float>(gp.values))[0] = 0.5413F;  // a length of 1.01
  Graph<float> graph(gp.values);
  const Var<float> x = graph.input(64, 1);
  for (std::size_t i = 0; i < 64; ++i) x.value()[i] = 0.21F * static_cast<float>(i);
  const auto law = gp.layer(x);
  graph.forward();
  const DenseGp dense = gp.dense();
  const Eigen::MatrixXd at = DenseGp::rows(std::span<const float>(x.value()), 1);
  const Eigen::MatrixXd mean = dense.mean_at(at);
  const Eigen::MatrixXd variance = dense.variance_at(at);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      const auto r = static_cast<Eigen::Index>(i), c = static_cast<Eigen::Index>(j);
      // Float's 6e-8 times the condition number, 3e6, is the share by which the weakest directions
      // may be off; they have an sd of 3e-3 each, and there are a hundred of them.
      EXPECT_NEAR(law.mean.value()[i * 2 + j], mean(r, c), 0.03);
      EXPECT_NEAR(law.variance.value()[i * 2 + j], variance(r, c), 0.03);
    }
  }
}

TEST(SparseGp, FarFromEveryPointItKnowsNothing) {
  const Filled<float> gp(20, 2, 1);
  Graph<float> graph(gp.values);
  const Var<float> x = graph.input(1, 2);
  std::ranges::fill(x.value(), 1e15F);
  const auto law = gp.layer(x);
  graph.forward();
  EXPECT_EQ(law.mean.value()[0], 0.0F);
  EXPECT_NEAR(law.variance.value()[0], gp.dense().variance, 1e-6);
}

TEST(SparseGp, PositiveParametersAreReadAsTheyAreWritten) {
  for (const double value : {0.02, 0.3, 1.0, 50.0}) {
    Graph<double> graph({});
    const Var<double> raw = graph.input(1, 1);
    raw.value()[0] = raw_of_positive(value, 0.01);
    const Var<double> back = positive(raw, 0.01);
    graph.forward();
    EXPECT_NEAR(back.value()[0], value, 1e-14 * value);
  }
}

}  // namespace
}  // namespace tare
