// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "calibrate/guarantee/guarantee_coverage.h"

namespace tare {
namespace {

TEST(GuaranteeSlow, CoversItsShareOnAverageOver500Draws) {
  for (const std::size_t n : {20U, 50U, 200U}) expect_guaranteed_coverage(n, 500);
}

TEST(GuaranteeSlow, CoversNoMoreThanItSaysOver500Draws) {
  expect_tight_coverage("pure_kernel", "kernel=knn bandwidth=8 split=cross", 300, 1000, 500);
  expect_tight_coverage("pure_kernel", "kernel=knn bandwidth=20 split=cross", 300, 1000, 500);
  expect_tight_coverage("nrc", "regressor=ridge", 500, 500, 500);
  expect_tight_coverage("nrc_boost", "", 500, 500, 500);
  expect_tight_coverage("auto", "budget=quick", 500, 300, 500);
}

TEST(GuaranteeSlow, CrossCoversInPracticeOver500Draws) {
  for (const std::size_t n : {20U, 50U, 200U}) expect_cross_coverage(n, 500);
}

}  // namespace
}  // namespace tare
