// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/pair_losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "expect_error.h"
#include "model/nn/gradient_check.h"

namespace tare {
namespace {

using nn::Var;

/// Values of a graph's inputs, drawn.
Var<double> drawn(nn::Graph<double>& graph, std::size_t rows, std::size_t cols, Rng& rng) {
  const Var<double> made = graph.input(rows, cols);
  for (double& value : made.value()) value = rng.uniform(0.1, 1.9);
  return made;
}

/// Levels of pairs, the same for each row.
void put_levels(const Var<double>& tau, const std::vector<double>& lower) {
  for (std::size_t i = 0; i < tau.rows(); ++i) {
    for (std::size_t k = 0; k < lower.size(); ++k) {
      tau.value()[i * tau.cols() + k] = lower[k];
      tau.value()[i * tau.cols() + lower.size() + k] = 1.0 - lower[k];
    }
  }
}

TEST(CalibrationErrors, AreThePapersFirstTerm) {
  Rng rng(Seed{1});
  nn::Graph<double> graph({});
  constexpr std::size_t kRows = 20;
  const Var<double> q = drawn(graph, kRows, 6, rng);
  const Var<double> y = drawn(graph, kRows, 1, rng);
  const Var<double> w = drawn(graph, kRows, 1, rng);
  const Var<double> tau = graph.input(kRows, 6);
  put_levels(tau, {0.02, 0.25, 0.45});
  const Var<double> errors = calibration_errors(q, y, tau, w);
  graph.forward();
  int sides[2] = {0, 0};
  for (std::size_t j = 0; j < 6; ++j) {
    double total = 0.0;
    double covered = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) {
      total += w.value()[i];
      if (y.value()[i] <= q.value()[i * 6 + j]) covered += w.value()[i];
    }
    const bool too_low = covered / total < tau.value()[j];
    double expected = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double over = y.value()[i] - q.value()[i * 6 + j];
      if (too_low && over > 0.0) expected += w.value()[i] * over / kRows;
      if (!too_low && over < 0.0) expected -= w.value()[i] * over / kRows;
    }
    ++sides[too_low ? 1 : 0];
    EXPECT_NEAR(errors.value()[j], expected, 1e-13) << "level " << j;  // sums of 20 terms
  }
  EXPECT_GT(sides[0], 0);
  EXPECT_GT(sides[1], 0);
}

TEST(CalibrationErrors, AreZeroWhereTheShareIsExact) {
  nn::Graph<double> graph({});
  const Var<double> q = graph.input(4, 2);
  const Var<double> y = graph.input(4, 1);
  const Var<double> w = graph.input(4, 1);
  const Var<double> tau = graph.input(4, 2);
  put_levels(tau, {0.25});
  for (std::size_t i = 0; i < 4; ++i) {
    y.value()[i] = static_cast<double>(i);
    w.value()[i] = 1.0;
    q.value()[2 * i] = 0.5;
    q.value()[2 * i + 1] = 2.0;  // a value that is equal counts as covered
  }
  const Var<double> errors = calibration_errors(q, y, tau, w);
  graph.forward();
  EXPECT_EQ(errors.value()[0], 0.0);
  EXPECT_EQ(errors.value()[1], 0.0);
}

TEST(CalibrationErrors, HaveTheRightGradient) {
  nn::check_gradient({{20, 4}}, [](const nn::Inputs& in) {
    nn::Graph<double>& graph = in[0].graph();
    Rng rng(Seed{2});
    const Var<double> tau = graph.input(20, 4);
    put_levels(tau, {0.1, 0.4});
    const Var<double> y = drawn(graph, 20, 1, rng);
    return calibration_errors(in[0], y, tau, drawn(graph, 20, 1, rng));
  });
}

TEST(LengthCoverageCorrelation, HasTheRightGradient) {
  nn::check_gradient({{12, 4}}, [](const nn::Inputs& in) {
    nn::Graph<double>& graph = in[0].graph();
    Rng rng(Seed{3});
    const Var<double> y = drawn(graph, 12, 1, rng);
    return length_coverage_correlation(in[0], y, drawn(graph, 12, 1, rng));
  });
}

TEST(LengthCoverageCorrelation, IsPearsonsOfLengthsAndHardCoverageWhereNoEndIsNear) {
  // Ends are at least half a length away from y: the sigmoid is then 0 or 1 to within e^-10.
  nn::Graph<double> graph({});
  constexpr std::size_t kRows = 10;
  const Var<double> q = graph.input(kRows, 2);
  const Var<double> y = graph.input(kRows, 1);
  const Var<double> w = graph.input(kRows, 1);
  std::vector<double> length;
  std::vector<double> covered;
  for (std::size_t i = 0; i < kRows; ++i) {
    length.push_back(1.0 + 0.3 * static_cast<double>(i * i % 7));
    covered.push_back(i % 3 == 0 ? 0.0 : 1.0);
    const double center = covered[i] > 0.0 ? 0.0 : length[i];  // y is 0, half a length off its end
    const double sign = i == 4 ? -1.0 : 1.0;                   // one pair crosses
    q.value()[2 * i] = center - sign * length[i] / 2.0;
    q.value()[2 * i + 1] = center + sign * length[i] / 2.0;
    w.value()[i] = i % 2 == 0 ? 2.0 : 1.0;
  }
  const Var<double> result = length_coverage_correlation(q, y, w);
  graph.forward();
  double mass = 0.0;
  double means[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < kRows; ++i) mass += w.value()[i];
  for (std::size_t i = 0; i < kRows; ++i) {
    means[0] += w.value()[i] * length[i] / mass;
    means[1] += w.value()[i] * covered[i] / mass;
  }
  double moments[3] = {0.0, 0.0, 0.0};
  for (std::size_t i = 0; i < kRows; ++i) {
    const double a = length[i] - means[0];
    const double b = covered[i] - means[1];
    moments[0] += w.value()[i] * a * a;
    moments[1] += w.value()[i] * a * b;
    moments[2] += w.value()[i] * b * b;
  }
  const double expected = std::abs(moments[1]) / std::sqrt(moments[0] * moments[2]);
  EXPECT_GT(expected, 0.05);
  EXPECT_NEAR(result.value()[0], expected, 1e-3);
}

TEST(LengthCoverageCorrelation, IsFiniteWhereNothingVaries) {
  nn::Graph<double> graph({});
  const Var<double> q = graph.input(5, 2);
  const Var<double> y = graph.input(5, 1);
  const Var<double> w = graph.input(5, 1);
  for (double& value : w.value()) value = 1.0;
  const Var<double> result = length_coverage_correlation(q, y, w);
  graph.forward();
  EXPECT_EQ(result.value()[0], 0.0);
}

TEST(BatchLosses, RefuseSmallMinibatches) {
  const Params small = Params::parse("batch=8");
  QuantileTask task(small);
  expect_error(ErrorCode::kInvalidArgument, "batch", [&] { use_batch_losses(task, small); });
  const Params grid = Params::parse("grid=paper");
  QuantileTask all(grid);
  use_batch_losses(all, grid);
  EXPECT_EQ(all.training.batches, (std::vector<std::size_t>{64, 128}));
}

}  // namespace
}  // namespace tare
