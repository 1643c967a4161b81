// SPDX-License-Identifier: BSD-3-Clause
#include "apply/level_columns.h"

#include <gmock/gmock.h>

#include <array>

#include "expect_error.h"

namespace tare {
namespace {

using testing::ElementsAre;

TEST(LevelColumns, AreLevelsInTheirOrderAndThenIntervals) {
  const std::array levels = {0.9, 0.05};
  const std::array intervals = {0.8, 0.5};
  const LevelColumns columns = level_columns(levels, intervals);
  EXPECT_THAT(columns.names,
              ElementsAre("q0.9", "q0.05", "lower_0.8", "upper_0.8", "lower_0.5", "upper_0.5"));
  EXPECT_DOUBLE_EQ(columns.levels[2].value(), 0.1);
  EXPECT_DOUBLE_EQ(columns.levels[5].value(), 0.75);
  ASSERT_EQ(columns.delivered.size(), 4U);
  EXPECT_EQ(columns.delivered[1].name, "delivered_q0.05");
  EXPECT_EQ(columns.delivered[1].lower, columns.delivered[1].upper);
  EXPECT_EQ(columns.delivered[3].name, "delivered_0.5");
  EXPECT_EQ(columns.delivered[3].lower, 4U);
  EXPECT_EQ(columns.delivered[3].upper, 5U);
}

TEST(LevelColumns, TheUsualOnesAreThree) {
  EXPECT_THAT(level_columns(usual_levels(), {}).names, ElementsAre("q0.05", "q0.5", "q0.95"));
  EXPECT_TRUE(level_columns({}, {}).names.empty());
  const std::array one = {0.9};
  EXPECT_THAT(level_columns({}, one).names, ElementsAre("lower_0.9", "upper_0.9"));
}

TEST(LevelColumns, WhatCannotBeAnsweredIsRefused) {
  const auto ask = [](std::vector<double> levels, std::vector<double> intervals) {
    level_columns(levels, intervals);
  };
  for (const double wrong : {0.0, 1.0, -0.5, 90.0}) {
    expect_error(ErrorCode::kInvalidArgument, "levels holds", [&] { ask({0.5, wrong}, {}); });
    expect_error(ErrorCode::kInvalidArgument, "interval holds", [&] { ask({0.5}, {wrong}); });
  }
  expect_error(ErrorCode::kInvalidArgument, "'q0.5' is requested twice", [&] {
    ask({0.5, 0.1, 0.5}, {});
  });
  expect_error(ErrorCode::kInvalidArgument, "'lower_0.9' is requested twice", [&] {
    ask({}, {0.9, 0.9});
  });
}

TEST(LevelColumns, ListsAreRead) {
  EXPECT_THAT(parse_level_list("5e-1, .25 ,0.750", "levels"), ElementsAre(0.5, 0.25, 0.75));
  EXPECT_TRUE(parse_level_list("", "levels").empty());
  for (const char* wrong : {" ", "a", "0.5,", "0.5;0.9"}) {
    expect_error(ErrorCode::kInvalidArgument, "levels ",
                 [&] { parse_level_list(wrong, "levels"); });
  }
}

}  // namespace
}  // namespace tare
