// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "shift_coverage.h"

namespace tare {
namespace {

/// Within 1.5 % of what is asked, where ranks without weights miss twice or three times as much as
/// they may.
void expect_restored(const std::string& form, std::uint64_t draws) {
  const ShiftCoverage covered = shift_coverage(form, 2000, draws);
  testing::Test::RecordProperty("plain_" + form, std::to_string(covered.plain));
  testing::Test::RecordProperty("weighted_" + form, std::to_string(covered.weighted));
  EXPECT_LT(covered.plain, 0.8) << form;
  EXPECT_NEAR(covered.weighted, 0.9, 0.015) << form;
}

TEST(ShiftSlow, WeightsRestoreTheCoverage) {
  expect_restored("split:0.5", 200);
  expect_restored("cross", 60);
}

}  // namespace
}  // namespace tare
