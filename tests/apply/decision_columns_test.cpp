// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "expect_error.h"
#include "function_model.h"
#include "tare/apply/predictor.h"
#include "tare/decide/decision.h"

namespace tare {
namespace {

/// Uniform on (x, 2x).
FittedModel uniform_model() {
  FittedModel fitted;
  fitted.model = std::make_shared<FunctionModel>(
      1, [](std::span<const double> x, double tau) { return x[0] * (1.0 + tau); });
  fitted.method = "function";
  return fitted;
}

Table column_x(std::vector<double> values) {
  Table table;
  table.add_numbers("x0", values);
  return table;
}

TEST(DecisionColumns, StandBehindQuantilesAndBeforeDiagnostics) {
  PredictOptions options;
  options.cost = Cost::over_under(1, 3);
  EXPECT_EQ(Predictor(uniform_model(), options).names(),
            (std::vector<std::string>{"action", "cost", "cost_of_mean"}));
  options.set("levels", "0.1");
  options.set("interval", "0.8");
  options.diagnostics = true;
  Predictor both(uniform_model(), options);
  const std::vector<std::string>& names = both.names();
  ASSERT_GT(names.size(), 7U);
  EXPECT_EQ((std::vector<std::string>(names.begin(), names.begin() + 7)),
            (std::vector<std::string>{"q0.1", "lower_0.8", "upper_0.8", "action", "cost",
                                      "cost_of_mean", "effective_n"}));
  const Answers answers = both.answer(Rows{.x = MatrixView(std::vector<double>{8.0}.data(), 0, 1)});
  EXPECT_EQ(answers.values.rows(), 0U);
}

TEST(DecisionColumns, AreThoseOfTheRowsDistribution) {
  std::vector<double> x;
  for (int i = 1; i <= 10'000; ++i) x.push_back(i);  // several blocks
  for (const bool diagnostics : {false, true}) {
    PredictOptions options;
    options.cost = Cost::over_under(1, 3);
    options.diagnostics = diagnostics;
    options.unnamed_levels = {0.25};
    Predictor predictor(uniform_model(), options);
    const Answers answers = predictor.answer(Rows{.x = MatrixView(x.data(), x.size(), 1)});
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(answers.values(i, 0), x[i] * 1.75);
      ASSERT_NEAR(answers.values(i, 1), x[i] * 0.75 / 2.0, 1e-9 * x[i]);
      ASSERT_NEAR(answers.values(i, 2), x[i] * 4.0 / 8.0, 1e-9 * x[i]);
      ASSERT_EQ(answers.unnamed(i, 0), x[i] * 1.25);
    }
  }
}

TEST(DecisionColumns, DoNotDependOnThreads) {
  std::vector<double> x;
  for (int i = 1; i <= 300; ++i) x.push_back(std::sin(i));
  PredictOptions options;
  options.cost = Cost::over_under(2, 1);
  std::vector<std::vector<double>> all;
  for (const std::size_t threads : {1U, 3U, 8U}) {
    Execution how;
    how.threads = threads;
    Predictor predictor(uniform_model(), options);
    const Answers answers = predictor.answer(Rows{.x = MatrixView(x.data(), x.size(), 1)}, how);
    all.emplace_back(answers.values.values().begin(), answers.values.values().end());
  }
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(DecisionColumns, OptionIsReadFromText) {
  PredictOptions options;
  options.set("cost", "over=1,under=3");
  ASSERT_TRUE(options.cost.has_value());
  EXPECT_EQ(options.cost->best_level()->value(), 0.75);
  options.set("cost", "");
  EXPECT_FALSE(options.cost.has_value());
  expect_error(ErrorCode::kInvalidArgument, "has no 'over'",
               [&] { options.set("cost", "under=3"); });
}

TEST(DecisionColumns, NoticesCountTheRowsWithAnAssumption) {
  FittedModel fitted;
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  fitted.model = std::make_shared<FunctionModel>(1, [](std::span<const double> x, double tau) {
    return tau > x[0] ? kUnbounded : tau;  // unbounded from the level x on
  });
  const std::vector<double> x = {0.5, 0.9, 0.9, 2.0};
  const Rows rows{.x = MatrixView(x.data(), x.size(), 1)};
  PredictOptions options;
  options.cost = Cost::over_under(1, 4);
  Predictor pair(fitted, options);
  const Answers answers = pair.answer(rows);
  EXPECT_EQ(answers.values(0, 0), kUnbounded);
  EXPECT_EQ(answers.values(0, 1), kUnbounded);
  EXPECT_EQ(answers.values(1, 0), 0.8);
  ASSERT_EQ(pair.notices().size(), 2U);
  EXPECT_EQ(pair.notices()[0].code, "infinite_answer");
  EXPECT_EQ(pair.notices()[0].rows, 1U);
  EXPECT_EQ(pair.notices()[1].code, "infinite_tail");
  EXPECT_EQ(pair.notices()[1].rows, 3U);

  options.cost = Cost::table(std::vector<Cost::Entry>{{1, 0, 0}, {1, 0.9, 1}});
  Predictor table(fitted, options);
  table.answer(rows);
  table.answer(rows);
  ASSERT_EQ(table.notices().size(), 2U);
  EXPECT_EQ(table.notices()[1].code, "outside_cost_table");
  EXPECT_EQ(table.notices()[1].rows, 2U);  // the last row, twice
}

TEST(DecisionColumns, TextsHaveTheColumns) {
  PredictOptions options;
  options.cost = Cost::table(std::vector<Cost::Entry>{{1, 0, 1}, {2, 0, 0.5}});
  options.keep = {"x0"};
  Predictor predictor(uniform_model(), options);
  const Table table = column_x({1.0});
  const Answers answers = predictor.answer(table);
  std::string text;
  predictor.append_csv_header(text);
  predictor.append_csv(text, table, answers);
  EXPECT_EQ(text, "x0,action,cost,cost_of_mean\n1,2,0.5,0.5\n");
  text.clear();
  predictor.append_json(text, table, answers, "\n");
  EXPECT_EQ(text, R"({"x0":"1","action":2,"cost":0.5,"cost_of_mean":0.5})");
}

}  // namespace
}  // namespace tare
