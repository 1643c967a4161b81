// SPDX-License-Identifier: BSD-3-Clause
#include "model/nn/rank_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "math/normal.h"
#include "model/nn/gradient_check.h"
#include "model/nn/graph/operations.h"

namespace tare::nn {
namespace {

TEST(RankLoss, IsTheDistanceOfTheTargetsLevelFromR) {
  Graph<double> graph({});
  const auto mean = graph.input(6, 1), sd = graph.input(6, 1), y = graph.input(6, 1),
             r = graph.input(6, 1);
  Rng rng(Seed{1});
  for (std::size_t i = 0; i < 6; ++i) {
    mean.value()[i] = rng.normal();
    sd.value()[i] = rng.uniform(0.1, 3.0);
    y.value()[i] = rng.normal();
    r.value()[i] = rng.uniform();
  }
  const auto loss = rank_loss<double>({mean, sd}, y, r);
  graph.forward();
  for (std::size_t i = 0; i < 6; ++i) {
    const double level = normal_cdf((y.value()[i] - mean.value()[i]) / sd.value()[i]);
    EXPECT_NEAR(loss.value()[i], std::abs(level - r.value()[i]), 1e-15);
  }
}

TEST(RankLoss, GradientIsThatOfTheValue) {
  check_gradient({{5, 1}, {5, 1}, {5, 1}, {5, 1}}, [](const Inputs& in) {
    return rank_loss<double>({in[0], softplus(in[1]) + 0.1}, in[2], in[3]);
  });
}

}  // namespace
}  // namespace tare::nn
