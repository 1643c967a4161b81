// SPDX-License-Identifier: BSD-3-Clause
// The paper's appendix on Y = uX, u ~ U[-1, 1]: what CCL's loss itself prefers, whatever network
// minimises it. At the pair (0.2, 0.8) the true quantiles are -0.6 x and 0.6 x.
#include <gtest/gtest.h>

#include <functional>

#include "calibrate/baseline/pair_losses.h"
#include "model/nn/operations.h"

namespace tare {
namespace {

constexpr std::size_t kSide = 300;
constexpr double kTau = 0.8;

/// The loss (1 - l) calibration + l sharpness of q(x) at 0.8 and -q(x) at 0.2, on an even grid of
/// (x, u).
double ccl_loss(double sharpness, const std::function<double(double x)>& upper) {
  nn::Graph<double> graph({});
  constexpr std::size_t kRows = kSide * kSide;
  const auto q = graph.input(kRows, 2);
  const auto y = graph.input(kRows, 1);
  const auto tau = graph.input(kRows, 2);
  const auto weight = graph.input(kRows, 1);
  for (std::size_t i = 0; i < kRows; ++i) {
    const double x = (static_cast<double>(i / kSide) + 0.5) / kSide;
    const double u = -1.0 + 2.0 * (static_cast<double>(i % kSide) + 0.5) / kSide;
    y.value()[i] = u * x;
    weight.value()[i] = 1.0;
    q.value()[2 * i] = -upper(x);
    q.value()[2 * i + 1] = upper(x);
    tau.value()[2 * i] = 1.0 - kTau;
    tau.value()[2 * i + 1] = kTau;
  }
  const auto loss = (1.0 - sharpness) * mean(calibration_errors(q, y, tau, weight)) +
                    sharpness * mean(interval_lengths(q));
  graph.forward();
  return loss.value()[0];
}

double truth(double x) { return (2.0 * kTau - 1.0) * x; }
/// All of Y below x = 0.6, nothing above: calibrated on average, and a third shorter.
double jump(double x) { return x < 2.0 * kTau - 1.0 ? x : 0.0; }
double zero(double) { return 0.0; }

TEST(CclFailure, ALittleSharpnessPrefersTheJumpToTheTruth) {
  // In the limit: truth 0.6 l, jump 0.36 l, zero 0.125 (1 - l). The grid adds a calibration error
  // of its own step, 1/300, at most.
  EXPECT_NEAR(ccl_loss(0.1, truth), 0.060, 0.004);
  EXPECT_NEAR(ccl_loss(0.1, jump), 0.036, 0.004);
  EXPECT_NEAR(ccl_loss(0.1, zero), 0.1125, 0.004);
}

TEST(CclFailure, MoreSharpnessPrefersNothingAtAll) {
  // The two meet at l = 0.125 / 0.485 = 0.258, the paper's lambda_0 for this level.
  EXPECT_LT(ccl_loss(0.24, jump), ccl_loss(0.24, zero));
  EXPECT_GT(ccl_loss(0.28, jump), ccl_loss(0.28, zero));
  EXPECT_LT(ccl_loss(0.28, zero), ccl_loss(0.28, truth));
}

}  // namespace
}  // namespace tare
