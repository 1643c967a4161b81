// SPDX-License-Identifier: BSD-3-Clause
// What the methods that end in a normal law share, beside the contract of all methods.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "calibrate/baseline/gaussian/isr.h"
#include "calibrate/baseline/gaussian/mc_dropout.h"
#include "data/rows.h"
#include "expect_error.h"
#include "io/tensor_store.h"
#include "math/normal.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

const std::vector<Level> kLevels = {Level{0.05}, Level{0.3}, Level{0.5}, Level{0.95}};

std::unique_ptr<QuantileModel> fit(const std::string& method, const Sample& data,
                                   const std::string& params, FitInput input = {}) {
  input.x = data.x;
  input.y = data.y;
  return fit_method(find_method(method), input, Params::parse(params));
}

std::vector<double> answers(const QuantileModel& model, MatrixView x,
                            std::span<const Level> levels = kLevels) {
  const Prediction p = model.predict({x}, levels);
  return {p.quantiles.values().begin(), p.quantiles.values().end()};
}

TensorStore stored(const QuantileModel& model) {
  TensorStore store;
  model.save(TensorWriter(store));
  return store;
}

TEST(GaussianQuantiles, AreThoseOfTheNormalLaw) {
  const Gaussians laws{{1.0, -5.0}, {2.0, 0.0}};
  const Prediction p = gaussian_quantiles(laws, normal_scores(kLevels));
  for (std::size_t j = 0; j < kLevels.size(); ++j) {
    EXPECT_NEAR(normal_cdf((p.quantiles(0, j) - 1.0) / 2.0), kLevels[j].value(), 1e-14);
    EXPECT_EQ(p.quantiles(1, j), -5.0);
  }
}

class GaussianMethod : public testing::TestWithParam<const char*> {};

TEST_P(GaussianMethod, AnswersALevelTheSameAloneAndAmongOthers) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{1});
  const auto model = fit(GetParam(), data, "epochs=3");
  const auto all = model->predict({data.x}, kLevels);
  for (std::size_t j = 0; j < kLevels.size(); ++j) {
    const auto one = model->predict({data.x}, std::span(kLevels).subspan(j, 1));
    for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(all.quantiles(i, j), one.quantiles(i, 0));
  }
}

TEST_P(GaussianMethod, ReadsOnlyTheColumnsItMay) {
  Sample data = draw(find_problem("hetero_10"), 150, Seed{2});
  FitInput input;
  input.model_columns = {0, 1, 2, 3, 4};
  const auto model = fit(GetParam(), data, "epochs=3", input);
  const auto before = answers(*model, data.x);
  for (std::size_t i = 0; i < 150; ++i) data.x(i, 7) = 1e6;
  EXPECT_EQ(answers(*model, data.x), before);
  data.x(0, 3) += 1.0;
  EXPECT_NE(answers(*model, data.x), before);
}

TEST_P(GaussianMethod, RowsWithoutWeightAreNotThere) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{3});
  std::vector<double> weight(200, 1.0);
  std::vector<std::uint8_t> calibrates(200, 0);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < 200; ++i) {
    if (i % 4 == 1) weight[i] = 0.0;
    if (i % 4 == 2) calibrates[i] = 1;
    if (weight[i] > 0.0) kept.push_back(i);
  }
  const Sample fewer{take_rows(data.x, kept), take_rows(std::span<const double>(data.y), kept)};
  std::vector<std::uint8_t> fewer_calibrate;
  for (const std::size_t i : kept) fewer_calibrate.push_back(calibrates[i]);
  FitInput input;
  input.weight = weight;
  FitInput fewer_input;
  if (std::string(GetParam()) == "isr") {  // rows drawn at random would be other rows
    input.calibrate_rows = calibrates;
    fewer_input.calibrate_rows = fewer_calibrate;
  }
  const auto with = answers(*fit(GetParam(), data, "epochs=3", input), data.x);
  const auto without = answers(*fit(GetParam(), fewer, "epochs=3", fewer_input), data.x);
  // Weights of 1 multiply losses; MMD sums them in another order.
  for (std::size_t i = 0; i < with.size(); ++i) EXPECT_NEAR(with[i], without[i], 1e-4);
}

TEST_P(GaussianMethod, WeightsMoveTheAnswer) {
  Sample data = draw(find_problem("flat"), 300, Seed{4});
  std::vector<double> weight(300, 1.0);
  for (std::size_t i = 0; i < 300; ++i) {
    if (data.y[i] > 0.0) weight[i] = 20.0;
  }
  FitInput input;
  input.weight = weight;
  const auto model = fit(GetParam(), data, "epochs=20", input);
  const auto plain = fit(GetParam(), data, "epochs=20");
  const Level middle{0.5};
  const double gap =
      answers(*model, data.x, {&middle, 1})[0] - answers(*plain, data.x, {&middle, 1})[0];
  EXPECT_GT(gap, 0.3);  // the mean of what is above 0 is 0.8, and 20 of 21 parts of the weight
}

TEST_P(GaussianMethod, FilesWhosePartsDoNotFitAreRefused) {
  const Sample data = draw(find_problem("hetero_2"), 100, Seed{5});
  const TensorStore good = stored(*fit(GetParam(), data, "epochs=1"));
  const auto load = find_method(GetParam()).load;
  EXPECT_NO_THROW(load(TensorReader(good)));
  for (const auto& [name, value] : good.values) {
    TensorStore bad = good;
    bad.values.at(name) = Json("nonsense");
    expect_error(ErrorCode::kCorruptFile, "", [&] { load(TensorReader(bad)); });
  }
  TensorStore wider = good;
  wider.values.at("features") = 3U;
  expect_error(ErrorCode::kCorruptFile, "inputs", [&] { load(TensorReader(wider)); });
}

TEST_P(GaussianMethod, WrongOptionsAreRefused) {
  const Sample data = draw(find_problem("hetero_2"), 50, Seed{6});
  for (const char* params : {"sd_floor=0", "sd_floor=2", "beta=2", "epochs=0", "learning_rate=x",
                             "grid=big", "patience=-1"}) {
    expect_error(ErrorCode::kInvalidArgument, "", [&] { fit(GetParam(), data, params); });
  }
}

INSTANTIATE_TEST_SUITE_P(All, GaussianMethod,
                         testing::Values("hnn", "mc_dropout", "deep_ensemble", "mmd", "isr",
                                         "lstm_hnn"),
                         [](const auto& name) { return std::string(name.param); });

TEST(Hnn, AnswersWithAMirroredLaw) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{7});
  const auto p = fit("hnn", data, "epochs=2")->predict({data.x}, kLevels);
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_NEAR(p.quantiles(i, 3) - p.quantiles(i, 2), p.quantiles(i, 2) - p.quantiles(i, 0),
                1e-12);
}

TEST(McDropout, KeepsItsPassesInTheModel) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{8});
  const auto model = fit("mc_dropout", data, "epochs=2 dropout=0.2 passes=7");
  TensorStore store = stored(*model);
  EXPECT_EQ(store.values.at("network.passes"), 7);
  const auto before = answers(*model, data.x);
  store.values.at("network.seed") = 99U;
  EXPECT_NE(answers(*load_mc_dropout(TensorReader(store)), data.x), before);
  expect_error(ErrorCode::kInvalidArgument, "passes",
               [&] { fit("mc_dropout", data, "passes=0 epochs=1"); });
}

TEST(McDropout, ChoosesItsRateFromTheGridUnlessGiven) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{9});
  const auto rate = [&](const char* params) {
    return stored(*fit("mc_dropout", data, params)).values.at("network.dropout").get<double>();
  };
  EXPECT_EQ(rate("grid=paper epochs=2 dropout=0.3"), 0.3);
  const double chosen = rate("grid=paper epochs=2 learning_rate=0.01 batch=10");
  EXPECT_TRUE(chosen == 0.01 || chosen == 0.05 || chosen == 0.1) << chosen;
}

TEST(Mmd, SecondPhaseStartsFromTheFirst) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{10});
  const auto first = answers(*fit("hnn", data, "epochs=5"), data.x);
  // Steps too small to move a float of size 1.
  const auto still = answers(*fit("mmd", data, "epochs=5 mmd_learning_rate=1e-8"), data.x);
  const auto moved = answers(*fit("mmd", data, "epochs=5"), data.x);
  double largest = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(still[i], first[i], 1e-4);
    largest = std::max(largest, std::abs(moved[i] - first[i]));
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(Mmd, WrongOptionsAreRefused) {
  const Sample data = draw(find_problem("hetero_1"), 50, Seed{11});
  for (const char* params : {"bandwidths=0", "bandwidths=1,,2", "bandwidths=1,x", "mmd_batch=64",
                             "mmd_learning_rate=0"}) {
    expect_error(ErrorCode::kInvalidArgument, "", [&] { fit("mmd", data, params); });
  }
}

TEST(Isr, RecalibratesOnTheRowsItIsGiven) {
  Sample data = draw(find_problem("hetero_1"), 200, Seed{12});
  std::vector<std::uint8_t> calibrates(200, 0);
  for (std::size_t i = 120; i < 200; ++i) {
    calibrates[i] = 1;
    data.y[i] += 100.0;  // far from what the network sees
  }
  FitInput input;
  input.calibrate_rows = calibrates;
  const auto model = fit("isr", data, "epochs=5", input);
  const Level middle{0.5};
  EXPECT_GT(answers(*model, data.x, {&middle, 1})[0], 30.0);
  EXPECT_EQ(stored(*model).tensors.at("recalibration.score").shape, Shape{80});
}

TEST(Isr, WrongSplitsAndTooFewRowsAreRefused) {
  const Sample data = draw(find_problem("hetero_1"), 30, Seed{13});
  expect_error(ErrorCode::kInvalidArgument, "cross", [&] { fit("isr", data, "split=cross"); });
  expect_error(ErrorCode::kBadData, "9 calibration rows", [&] { fit("isr", data, ""); });
  FitInput series;
  series.window = 2;
  expect_error(ErrorCode::kInvalidArgument, "series",
               [&] { fit("isr", data, "split=0.4", series); });
  EXPECT_NO_THROW(fit("isr", data, "split=time:0.4 epochs=1", series));
}

TEST(LstmHnn, ReadsTheWindowOfItsRows) {
  const Sample data = draw(find_problem("hetero_10"), 60, Seed{14});
  const auto window = [&](const char* params, std::size_t steps) {
    FitInput input;
    input.window = steps;
    return stored(*fit("lstm_hnn", data, params, input)).values.at("network.window");
  };
  EXPECT_EQ(window("epochs=1", 1), 5);
  EXPECT_EQ(window("epochs=1", 2), 2);
  EXPECT_EQ(window("epochs=1 window=10", 2), 10);
  expect_error(ErrorCode::kInvalidArgument, "window=4", [&] { window("epochs=1", 4); });
}

}  // namespace
}  // namespace tare
