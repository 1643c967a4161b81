// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "calibrate/shift/shift_coverage.h"

namespace tare {
namespace {

/// Within 1.5 % of what is asked, where ranks without weights miss twice or three times as much as
/// they may.
void expect_restored(const std::string& form, std::uint64_t draws) {
  const ShiftCoverage covered = shift_coverage(ShiftKind::kMoved, form, 2000, draws);
  testing::Test::RecordProperty("plain_" + form, std::to_string(covered.plain));
  testing::Test::RecordProperty("weighted_" + form, std::to_string(covered.weighted));
  EXPECT_LT(covered.plain, 0.8) << form;
  EXPECT_NEAR(covered.weighted, 0.9, 0.015) << form;
}

TEST(ShiftSlow, WeightsRestoreTheCoverage) {
  expect_restored("split:0.5", 200);
  expect_restored("cross", 60);
}

/// A law that no column shows by itself and that is not quite what products can say.
TEST(ShiftSlow, WeightsSeeProducts) {
  const ShiftCoverage covered = shift_coverage(ShiftKind::kCorners, "split:0.5", 2000, 100);
  RecordProperty("plain_corners", std::to_string(covered.plain));
  RecordProperty("weighted_corners", std::to_string(covered.weighted));
  EXPECT_LT(covered.plain, 0.84);
  EXPECT_NEAR(covered.weighted, 0.9, 0.025);
}

}  // namespace
}  // namespace tare
