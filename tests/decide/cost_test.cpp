// SPDX-License-Identifier: BSD-3-Clause
#include "tare/decide/cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.h"

namespace tare {
namespace {

TEST(Cost, BestLevelIsTheDecimalThatWasMeant) {
  const auto level = [](double over, double under) {
    return Cost::over_under(over, under).best_level()->value();
  };
  EXPECT_EQ(level(1, 4), 0.8);
  EXPECT_EQ(level(1, 1), 0.5);
  EXPECT_EQ(level(0.03, 0.07), 0.7);
  EXPECT_EQ(level(0.1, 0.9), 0.9);
  EXPECT_EQ(level(3, 97), 0.97);
  EXPECT_NEAR(level(1, 2), 2.0 / 3.0, 1e-15);
  EXPECT_EQ(level(1e308, 1e308), 0.5);  // their sum is no double
  // Every pair of whole percentages, against the quotient that rounds once.
  for (int k = 1; k < 100; ++k) {
    EXPECT_EQ(level((100 - k) / 1000.0, k / 1000.0), k / 100.0) << k;
  }
}

TEST(Cost, RefusesCostsThatLeaveNoLevel) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, kInf, std::nan("")}) {
    expect_error(ErrorCode::kInvalidArgument, "'over' must be a positive number",
                 [&] { Cost::over_under(bad, 1.0); });
    expect_error(ErrorCode::kInvalidArgument, "'under' must be a positive number",
                 [&] { Cost::over_under(1.0, bad); });
  }
  expect_error(ErrorCode::kInvalidArgument, "differ so much", [] { Cost::over_under(1e-17, 1.0); });
  expect_error(ErrorCode::kInvalidArgument, "differ so much",
               [] { Cost::over_under(1e308, 1e-308); });
}

TEST(Cost, TextIsReadInAnyOrderAndCase) {
  for (const char* text : {"over=1,under=4", "under=4,over=1", " Over = 1 , UNDER=4.0 "}) {
    const Cost cost = Cost::parse(text);
    EXPECT_EQ(cost.over(), 1.0) << text;
    EXPECT_EQ(cost.under(), 4.0) << text;
    EXPECT_FALSE(cost.is_table());
  }
  for (const char* text :
       {"over=1", "under=1", "over=1,under=4,under=5", "over=1,under=x",
        "over=1,under=", "over=1,under=4,", "over=1,missing=3", "over=nan,under=1",
        "over=inf,under=1", "over=,", "cover=1,under=2", "", " ", "-"}) {
    expect_error(ErrorCode::kInvalidArgument, "cost", [&] { Cost::parse(text); });
  }
  expect_error(ErrorCode::kNotFound, "no such file", [] { Cost::parse("nowhere.csv"); });
  expect_error(ErrorCode::kInvalidArgument, "neither over=NUMBER",
               [] { Cost::parse_over_under("nowhere.csv"); });
}

TEST(Cost, TableIsALineBetweenOutcomesAndConstantBeyond) {
  // In any order; -0 and 0 are one action.
  const Cost cost = Cost::table(
      std::vector<Cost::Entry>{{5, 20, 7}, {0, 10, 4}, {-0.0, 0, 2}, {5, 10, 1}, {5, 12, 3}});
  ASSERT_EQ(cost.actions().size(), 2U);
  EXPECT_EQ(cost.actions()[0].action, 5.0);  // in the order of their first entry
  EXPECT_EQ(cost.actions()[1].action, 0.0);
  EXPECT_FALSE(std::signbit(cost.actions()[1].action));
  const auto at = [&](std::size_t action, double outcome) {
    return Cost::at(cost.actions()[action], outcome);
  };
  EXPECT_EQ(at(1, 5), 3.0);
  EXPECT_EQ(at(1, -100), 2.0);
  EXPECT_EQ(at(1, 100), 4.0);
  EXPECT_EQ(at(0, 10), 1.0);
  EXPECT_EQ(at(0, 11), 2.0);
  EXPECT_EQ(at(0, 12), 3.0);
  EXPECT_EQ(at(0, 16), 5.0);
  EXPECT_EQ(at(0, 20), 7.0);
}

TEST(Cost, TableNeedsNumbersAndEachPairOnce) {
  expect_error(ErrorCode::kBadData, "no rows", [] { Cost::table({}); });
  expect_error(ErrorCode::kBadData, "two costs for action 1 and outcome 2", [] {
    Cost::table(std::vector<Cost::Entry>{{1, 2, 3}, {1, 2, 3}});
  });
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const Cost::Entry& entry :
         {Cost::Entry{bad, 0, 0}, Cost::Entry{0, bad, 0}, Cost::Entry{0, 0, bad}}) {
      expect_error(ErrorCode::kBadData, "not finite",
                   [&] { Cost::table(std::vector<Cost::Entry>{entry}); });
    }
  }
}

TEST(Cost, TableOfColumnsNamesWhatIsMissing) {
  const std::vector<double> numbers = {1, 2};
  Table table;
  table.source = "costs.csv";
  table.add_numbers("outcome", numbers);
  table.add_numbers("cost", numbers);
  expect_error(ErrorCode::kNotFound, "needs a column 'action'", [&] { Cost::from_table(table); });
  Table texts = table;
  texts.add_texts("action", std::vector<std::string>{"wait", "send"});
  expect_error(ErrorCode::kBadData, "number the actions", [&] { Cost::from_table(texts); });
  Table missing = table;
  missing.add_numbers("action", std::vector<double>{0.0, std::nan("")});
  expect_error(ErrorCode::kBadData, "costs.csv:2: column 'action'",
               [&] { Cost::from_table(missing); });
  table.add_numbers("action", std::vector<double>{3, 4});
  const Cost cost = Cost::from_table(table);
  EXPECT_EQ(cost.actions().size(), 2U);
  EXPECT_EQ(cost.actions()[1].outcomes, std::vector<double>{2.0});
}

}  // namespace
}  // namespace tare
