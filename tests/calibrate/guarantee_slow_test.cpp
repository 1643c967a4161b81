// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "guarantee_coverage.h"

namespace tare {
namespace {

TEST(GuaranteeSlow, CoversItsShareOnAverageOver500Draws) {
  for (const std::size_t n : {20U, 50U, 200U}) expect_guaranteed_coverage(n, 500);
}

TEST(GuaranteeSlow, CrossCoversInPracticeOver500Draws) {
  for (const std::size_t n : {20U, 50U, 200U}) expect_cross_coverage(n, 500);
}

}  // namespace
}  // namespace tare
