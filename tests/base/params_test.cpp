// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/params.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tare {
namespace {

TEST(Params, AreReadFromText) {
  const Params params = Params::parse("regressor=forest  dims=4 text=a=b");
  EXPECT_EQ(params.text("regressor", ""), "forest");
  EXPECT_EQ(params.count("dims", 1, 1, 10), 4U);
  EXPECT_EQ(params.text("text", ""), "a=b");
  EXPECT_EQ(params.number("absent", 2.5, 0.0, 9.0), 2.5);
  expect_error(ErrorCode::kInvalidArgument, "name=value", [] { Params::parse("dims"); });
}

TEST(Params, RefuseWhatIsOutsideTheRange) {
  const Params params = Params::parse("a=-1 b=1.5 c=nan d=x e=99999999999999999999999");
  expect_error(ErrorCode::kInvalidArgument, "from 0 to 1", [&] { params.number("a", 0, 0, 1); });
  expect_error(ErrorCode::kInvalidArgument, "whole number", [&] { params.count("b", 0, 0, 5); });
  expect_error(ErrorCode::kInvalidArgument, "'nan'", [&] { params.number("c", 0, 0, 1); });
  expect_error(ErrorCode::kInvalidArgument, "'x'", [&] { params.number("d", 0, 0, 1); });
  expect_error(ErrorCode::kInvalidArgument, "e must", [&] { params.count("e", 0, 0, 5); });
}

TEST(Params, TheOtherValuesWinInAMerge) {
  Params params = Params::parse("a=1 b=2");
  params.merge(Params::parse("b=3 c=4"));
  EXPECT_EQ(params.text("a", ""), "1");
  EXPECT_EQ(params.text("b", ""), "3");
  EXPECT_EQ(params.text("c", ""), "4");
}

TEST(Params, AnUnknownNameListsTheKnown) {
  static constexpr ParamInfo kKnown[] = {{"depth", "6", ""}, {"trees", "100", ""}};
  const std::span<const ParamInfo> list = kKnown;
  expect_error(ErrorCode::kInvalidArgument, "it has: depth, trees", [&] {
    Params::parse("tree=1").check_known("forest", {&list, 1});
  });
  EXPECT_NO_THROW(Params::parse("trees=1").check_known("forest", {&list, 1}));
}

}  // namespace
}  // namespace tare
