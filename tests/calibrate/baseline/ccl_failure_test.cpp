// SPDX-License-Identifier: BSD-3-Clause
// The paper's appendix on Y = uX, u ~ U[-1, 1]: what CCL's loss itself prefers, whatever network
// minimises it. At the pair (1/4, 3/4) the true quantiles are -x/2 and x/2.
#include <gtest/gtest.h>

#include <functional>

#include "calibrate/baseline/pair_losses.h"
#include "model/nn/operations.h"

namespace tare {
namespace {

constexpr std::size_t kSide = 300;
constexpr double kTau = 0.75;  // and a grid of 300: shares of rows are levels, to the last bit

/// The loss (1 - l) calibration + l sharpness of q(x) at 3/4 and -q(x) at 1/4, on an even grid of
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
/// All of Y below x = 1/2, nothing above: calibrated on average, and half as long.
double jump(double x) { return x < 2.0 * kTau - 1.0 ? x : 0.0; }
double zero(double) { return 0.0; }

TEST(CclFailure, ALittleSharpnessPrefersTheJumpToTheTruth) {
  // Truth and jump are calibrated exactly, and pay for their length alone: 0.5 l and 0.25 l. Zero
  // pays E max(Y, 0) = 1/8 for its calibration.
  EXPECT_NEAR(ccl_loss(0.1, truth), 0.05, 1e-9);
  EXPECT_NEAR(ccl_loss(0.1, jump), 0.025, 1e-9);
  EXPECT_NEAR(ccl_loss(0.1, zero), 0.9 * 0.125, 1e-9);
}

TEST(CclFailure, MoreSharpnessPrefersNothingAtAll) {
  // The two meet at l = 1/3, the paper's lambda_0 for this level.
  EXPECT_LT(ccl_loss(0.32, jump), ccl_loss(0.32, zero));
  EXPECT_GT(ccl_loss(0.35, jump), ccl_loss(0.35, zero));
  EXPECT_LT(ccl_loss(0.35, zero), ccl_loss(0.35, truth));
}

}  // namespace
}  // namespace tare
