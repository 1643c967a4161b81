// SPDX-License-Identifier: BSD-3-Clause
// What the contract tests do not ask of it.
#include "calibrate/baseline/gaussian/dgp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

const Params kQuick = Params::parse("epochs=5 inducing=16 width=3 draws=2 samples=20");

Prediction answers(const QuantileModel& model, const Sample& data, std::span<const Level> levels) {
  return model.predict({data.x}, levels);
}

TEST(Dgp, AnAnswerDoesNotDependOnTheOtherLevels) {
  const Sample data = draw(find_problem("hetero_2"), 60, Seed{11});
  const auto model = fit_method(find_method("dgp"), {.x = data.x, .y = data.y}, kQuick);
  const std::vector<Level> many = metric_levels();
  const Prediction all = answers(*model, data, many);
  for (const std::size_t j : {0U, 37U, 99U}) {
    const Prediction one = answers(*model, data, std::span(many).subspan(j, 1));
    for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(all.quantiles(i, j), one.quantiles(i, 0));
  }
}

TEST(Dgp, ColumnsThatAreNotItsOwnDoNotMatter) {
  Sample data = draw(find_problem("hetero_2"), 60, Seed{11});
  FitInput input{.x = data.x, .y = data.y};
  input.model_columns = {1};
  const auto model = fit_method(find_method("dgp"), input, kQuick);
  const std::vector<Level> levels = metric_levels();
  const Prediction before = answers(*model, data, levels);
  for (std::size_t i = 0; i < 60; ++i) data.x(i, 0) = 1e6;
  EXPECT_TRUE(std::ranges::equal(before.quantiles.values(),
                                 answers(*model, data, levels).quantiles.values()));
  for (std::size_t i = 0; i < 60; ++i) data.x(i, 1) += 0.5;
  EXPECT_FALSE(std::ranges::equal(before.quantiles.values(),
                                  answers(*model, data, levels).quantiles.values()));
}

TEST(Dgp, ARowOfZeroWeightIsNotThere) {
  const Sample data = draw(find_problem("hetero_2"), 60, Seed{11});
  std::vector<double> y = data.y, weight(60, 1.0);
  weight[59] = 0.0;
  FitInput input{.x = data.x, .y = y, .weight = weight};
  const auto before = fit_method(find_method("dgp"), input, kQuick);
  y[59] = 1e9;
  const auto after = fit_method(find_method("dgp"), input, kQuick);
  const std::vector<Level> levels = metric_levels();
  EXPECT_TRUE(std::ranges::equal(answers(*before, data, levels).quantiles.values(),
                                 answers(*after, data, levels).quantiles.values()));
}

TEST(Dgp, HasNoRowsToCalibrateWith) {
  const Sample data = draw(find_problem("hetero_2"), 60, Seed{11});
  const std::vector<std::uint8_t> some(60, 1);
  FitInput input{.x = data.x, .y = data.y};
  input.calibrate_rows = some;
  expect_error(ErrorCode::kInvalidArgument, "no calibration step",
               [&] { fit_method(find_method("dgp"), input, kQuick); });
}

TEST(Dgp, AFileWhoseColumnsDoNotFitIsRefused) {
  const Sample data = draw(find_problem("hetero_2"), 60, Seed{11});
  const auto model = fit_method(find_method("dgp"), {.x = data.x, .y = data.y}, kQuick);
  TensorStore store;
  model->save(TensorWriter(store));
  EXPECT_NO_THROW(load_dgp(TensorReader(store)));
  store.values.at("features") = 3U;
  expect_error(ErrorCode::kCorruptFile, "2 inputs and not 3",
               [&] { load_dgp(TensorReader(store)); });
}

}  // namespace
}  // namespace tare
