// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/gaussian_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "math/normal.h"
#include "model/nn/gradient_check.h"
#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

TEST(GaussianLoss, IsTheNegativeLogDensityLessItsConstant) {
  Graph<double> graph({});
  const auto mean = graph.input(4, 1);
  const auto sd = graph.input(4, 1);
  const auto y = graph.input(4, 1);
  Rng rng(Seed{1});
  for (std::size_t i = 0; i < 4; ++i) {
    mean.value()[i] = rng.normal();
    sd.value()[i] = rng.uniform(0.1, 3.0);
    y.value()[i] = rng.normal();
  }
  const auto loss = gaussian_loss<double>({mean, sd}, y, 0.7);
  graph.forward();
  for (std::size_t i = 0; i < 4; ++i) {
    const double s = sd.value()[i];
    const double density = normal_pdf((y.value()[i] - mean.value()[i]) / s) / s;
    // log(2 pi) / 2 is the constant; sums of numbers of size 10.
    EXPECT_NEAR(loss.value()[i], -std::log(density) - 0.91893853320467274, 1e-13);
  }
}

TEST(GaussianLoss, GradientIsThatOfTheValue) {
  check_gradient({{5, 1}, {5, 1}, {5, 1}}, [](const Inputs& in) {
    return gaussian_loss<double>({in[0], softplus(in[1]) + 0.1}, in[2]);
  });
}

TEST(GaussianLoss, BetaScalesTheGradientByThePowerOfTheVariance) {
  for (const double beta : {0.5, 1.0}) {
    Graph<double> graph({});
    const auto mean = graph.variable(3, 1);
    const auto sd = graph.variable(3, 1);
    const auto y = graph.input(3, 1);
    Rng rng(Seed{2});
    for (std::size_t i = 0; i < 3; ++i) {
      mean.value()[i] = rng.normal();
      sd.value()[i] = rng.uniform(0.2, 3.0);
      y.value()[i] = rng.normal();
    }
    const auto loss = sum(gaussian_loss<double>({mean, sd}, y, beta));
    graph.forward();
    graph.backward(loss);
    for (std::size_t i = 0; i < 3; ++i) {
      const double s = sd.value()[i];
      const double gap = y.value()[i] - mean.value()[i];
      const double factor = std::pow(s * s, beta);
      EXPECT_NEAR(mean.gradient()[i], -factor * gap / (s * s), 1e-12);
      EXPECT_NEAR(sd.gradient()[i], factor * (1.0 / s - gap * gap / (s * s * s)), 1e-12);
    }
  }
}

}  // namespace
}  // namespace tare::nn
