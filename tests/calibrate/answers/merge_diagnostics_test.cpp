// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/answers/merge_diagnostics.h"

#include <gtest/gtest.h>

#include <vector>

namespace tare {
namespace {

Prediction about_two_rows(std::vector<double> window_n, std::vector<double> nearest,
                          std::vector<std::uint8_t> fallback, std::vector<std::uint8_t> outside) {
  Prediction p;
  p.window_n = std::move(window_n);
  p.nearest = std::move(nearest);
  p.fallback = std::move(fallback);
  p.outside = std::move(outside);
  return p;
}

TEST(MergeDiagnostics, ARowIsAsFarAsForTheModelThatKnowsLeast) {
  Prediction all;
  merge_diagnostics(all, about_two_rows({10, 20}, {0.5, 3.0}, {0, 1}, {0, 1}), 0.25);
  merge_diagnostics(all, about_two_rows({30, 60}, {2.0, 1.0}, {1, 0}, {0, 0}), 0.75);
  EXPECT_EQ(all.window_n, (std::vector<double>{25, 50}));
  EXPECT_EQ(all.nearest, (std::vector<double>{2.0, 3.0}));
  EXPECT_EQ(all.fallback, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(all.outside, (std::vector<std::uint8_t>{0, 1}));
}

TEST(MergeDiagnostics, ModelsWithoutDistancesLeaveThemEmpty) {
  Prediction all;
  merge_diagnostics(all, about_two_rows({10, 20}, {}, {0, 0}, {}), 0.5);
  merge_diagnostics(all, about_two_rows({10, 20}, {}, {0, 1}, {}), 0.5);
  EXPECT_TRUE(all.nearest.empty());
  EXPECT_TRUE(all.outside.empty());
  EXPECT_EQ(all.fallback, (std::vector<std::uint8_t>{0, 1}));
  Prediction none;
  merge_diagnostics(none, Prediction{}, 1.0);
  EXPECT_TRUE(none.window_n.empty());
}

}  // namespace
}  // namespace tare
