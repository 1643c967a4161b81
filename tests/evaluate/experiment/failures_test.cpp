// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/study/failures.h"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(Failures, TheSharpestCalibratedQuantileCoversNothingWhereItMatters) {
  const FailureTable table = sharpness_failure(Seed{1});
  const auto& truth = table.values[0];
  const auto& sharpest = table.values[1];
  const auto& snq = table.values[2];
  // By hand: covered 0.9 each; mean 0.45 and 0.9^2 / 2; ICE 0 and 0.9 * 0.1 + 0.1 * 0.9.
  EXPECT_NEAR(truth[0], 0.9, 1e-9);
  EXPECT_NEAR(truth[3], 0.45, 1e-9);
  EXPECT_NEAR(truth[4], 0.0, 1e-9);
  EXPECT_NEAR(sharpest[0], 0.9, 1e-4);  // the grid's step
  EXPECT_NEAR(sharpest[2], 0.0, 1e-9);
  EXPECT_NEAR(sharpest[3], 0.405, 1e-4);
  EXPECT_NEAR(sharpest[4], 0.18, 1e-4);
  // A quantile from k rows is off by about sqrt(0.09 / k): 0.03 for a hundred.
  EXPECT_LT(snq[4], 0.05);
  EXPECT_GT(snq[2], 0.8);
}

TEST(Failures, CclsLossIsLowestForTheJumpAndThenForZero) {
  const FailureTable table = ccl_loss_failure();
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    const double weight = std::stod(table.names[k]);
    EXPECT_NEAR(table.values[k][0], 0.5 * weight, 1e-9);
    EXPECT_NEAR(table.values[k][1], 0.25 * weight, 1e-9);
    EXPECT_NEAR(table.values[k][2], 0.125 * (1.0 - weight), 1e-9);
  }
}

TEST(Failures, MmdDoesNotSeeAPermutation) {
  const FailureTable table = mmd_failure(Seed{1});
  EXPECT_NEAR(table.values[0][0], table.values[1][0], 1e-12);
  EXPECT_NEAR(table.values[0][1], 0.0, 1e-9);  // the true laws
  EXPECT_GT(table.values[1][1], 0.1);
}

}  // namespace
}  // namespace tare
