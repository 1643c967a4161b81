// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "expect_error.h"
#include "function_model.h"
#include "tare/apply/predictor.h"

namespace tare {
namespace {

/// For x > 0: half uniform on (-x - 1, -x), half on (x, x + 1); for x <= 0 uniform on (0, 1), and
/// infinite in its upper tail for x < 0.
FittedModel halves_model() {
  FittedModel fitted;
  fitted.model = std::make_shared<FunctionModel>(1, [](std::span<const double> x, double tau) {
    if (x[0] > 0.0) return tau < 0.5 ? -x[0] - 1.0 + 2.0 * tau : x[0] + 2.0 * (tau - 0.5);
    return x[0] < 0.0 && tau > 0.97 ? std::numeric_limits<double>::infinity() : tau;
  });
  fitted.method = "function";
  return fitted;
}

PredictOptions shortest(const char* intervals) {
  PredictOptions options;
  options.set("interval", intervals);
  options.set("set", "shortest");
  return options;
}

TEST(SetColumns, StandInThePlaceOfIntervals) {
  PredictOptions options = shortest("0.9,0.5");
  options.set("levels", "0.25");
  options.cost = Cost::over_under(1, 1);
  EXPECT_EQ(Predictor(halves_model(), options).names(),
            (std::vector<std::string>{"q0.25", "lower_0.9", "upper_0.9", "lower2_0.9", "upper2_0.9",
                                      "lower_0.5", "upper_0.5", "lower2_0.5", "upper2_0.5",
                                      "action", "cost", "cost_of_mean"}));
  EXPECT_EQ(Predictor(halves_model(), shortest("")).names().front(), "lower_0.9");
  expect_error(ErrorCode::kInvalidArgument, "longest", [] {
    PredictOptions wrong;
    wrong.set("set", "longest");
  });
  expect_error(ErrorCode::kInvalidArgument, "twice",
               [] { Predictor(halves_model(), shortest("0.9,0.9")); });
  expect_error(ErrorCode::kInvalidArgument, "1.5",
               [] { Predictor(halves_model(), shortest("1.5")); });
}

TEST(SetColumns, AreThePartsOfEachRow) {
  PredictOptions options = shortest("0.9");
  options.unnamed_levels = {0.25};
  options.cost = Cost::over_under(1, 1);
  Predictor predictor(halves_model(), options);
  std::vector<double> x(3'000, 0.0);  // several blocks
  x[0] = 5.0;
  x[2'500] = -1.0;
  Table table;
  table.add_numbers("x0", x);
  const Answers answers = predictor.answer(table);
  // Both halves are equally dense.
  EXPECT_NEAR(
      answers.values(0, 1) - answers.values(0, 0) + answers.values(0, 3) - answers.values(0, 2),
      1.8, 0.01);
  EXPECT_LT(answers.values(0, 1), -4.9);
  EXPECT_GT(answers.values(0, 2), 4.9);
  EXPECT_TRUE(std::isnan(answers.values(1, 2)));
  EXPECT_NEAR(answers.values(1, 1) - answers.values(1, 0), 0.9, 0.001);
  EXPECT_TRUE(std::isfinite(answers.values(2'500, 1)));
  EXPECT_EQ(answers.unnamed(1, 0), 0.25);
  EXPECT_EQ(answers.values(1, 4), 0.5);  // the action
  std::string csv;
  predictor.append_csv(csv, table, answers);
  const std::string second = csv.substr(csv.find('\n') + 1);
  EXPECT_NE(second.substr(0, second.find('\n')).find(",,"), std::string::npos);
  std::string json;
  predictor.append_json(json, table, answers, "\n");
  EXPECT_EQ(json.find("{\"set_0.9\":[["), 0U);
  EXPECT_NE(json.substr(0, json.find('\n')).find("],["), std::string::npos);
}

TEST(SetColumns, AnInfiniteEndIsNullInJson) {
  Predictor predictor(halves_model(), shortest("0.99"));
  Table table;
  table.add_numbers("x0", std::vector<double>{-1.0});
  std::string json;
  predictor.append_json(json, table, predictor.answer(table), "\n");
  EXPECT_NE(json.find(",null]]"), std::string::npos) << json;
}

}  // namespace
}  // namespace tare
