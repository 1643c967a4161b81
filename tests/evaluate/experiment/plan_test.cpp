// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/plan.h"

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tare {
namespace {

constexpr const char* kPlan = R"({"name": "small", "repeats": 2,
  "cases": [{"name": "flat", "test": "law", "problem": "flat", "rows": 60, "test_rows": 20}],
  "methods": ["pure_kernel bandwidth=infinite", "NRC-RF"]})";

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = kPlan;
  text.replace(text.find(from), from.size(), to);
  return text;
}

void expect_refused(const std::string& text, const std::string& says) {
  expect_error(ErrorCode::kInvalidArgument, says, [&] { parse_plan(text, "my.json"); });
}

TEST(Plan, IsReadAsItIsWritten) {
  const ExperimentPlan plan = parse_plan(kPlan, "small.json");
  EXPECT_EQ(plan.repeats, 2U);
  ASSERT_EQ(plan.cases.size(), 1U);
  EXPECT_EQ(plan.cases[0].test, TestRows::kLaw);
  EXPECT_EQ(plan.cases[0].rows, 60U);
  ASSERT_EQ(plan.methods.size(), 2U);
  EXPECT_EQ(plan.methods[0].params.text("bandwidth", ""), "infinite");
  EXPECT_EQ(plan.methods[1].method, "nrc_rf");  // the paper's spelling is understood
}

TEST(Plan, SaysWhatIsWrongAndWhere) {
  expect_refused("{", "my.json: is not JSON");
  expect_refused(replaced("2,", "1e999,"), "my.json: is not JSON");  // more than a double can hold
  expect_refused("[]", "my.json: expected an object");
  expect_refused(replaced("\"repeats\"", "\"repeat\""), "my.json: there is no field 'repeat'");
  expect_refused(replaced("2,", "\"two\","), "'repeats' has the wrong type");
  expect_refused(replaced("\"problem\": \"flat\"", "\"problem\": \"flatt\""), "flatt");
  expect_refused(replaced("\"rows\": 60, ", ""), "field 'rows' is missing");
  expect_refused(replaced("NRC-RF", "NRC-XX"), "NRC-XX");
  expect_refused(replaced("\"law\"", "\"lawn\""), "lawn");
  expect_refused(replaced("\"repeats\": 2", "\"test_share\": 1.5"), "test_share is a share");
  for (const char* seed : {"1e300", "-1", "0.5"}) {
    expect_refused(replaced("\"repeats\": 2", std::string("\"seed\": ") + seed),
                   "'seed' has the wrong type");
  }
}

TEST(Plan, RefusesWhatWouldMixResultsOrWriteElsewhere) {
  expect_refused(replaced("\"small\"", "\"../evil\""), "letters, digits");
  expect_refused(replaced("\"repeats\": 2", "\"repeats\": 0"), "repeats is a whole number");
  expect_refused(replaced("\"rows\": 60", "\"rows\": -5"), "rows is a whole number");
  expect_refused(replaced("\"rows\": 60", "\"rows\": 1e30"), "rows is a whole number");
  expect_refused(replaced("\"name\": \"flat\"", "\"name\": \"a\\nb\""), "control character");
  expect_refused(replaced("\"NRC-RF\"", "\"pure_kernel bandwidth=infinite\""), "twice");
  const std::string one =
      R"({"name": "flat", "test": "law", "problem": "flat", "rows": 60, "test_rows": 20})";
  expect_refused(replaced(one, one + ", " + one), "two cases have the name 'flat'");
}

TEST(Plan, EveryOneThatComesWithTheLibraryIsSound) {
  EXPECT_GE(built_in_plan_names().size(), 5U);
  for (const std::string& name : built_in_plan_names()) {
    EXPECT_EQ(built_in_plan(name).name, name);
  }
  expect_error(ErrorCode::kNotFound, "uci", [] { built_in_plan("ucl"); });
}

}  // namespace
}  // namespace tare
