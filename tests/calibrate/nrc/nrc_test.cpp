// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/nrc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrate/nrc/point_model.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/snq.h"
#include "tare/data/problem.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

const std::vector<Level> kLevels = {Level{0.05}, Level{0.5}, Level{0.95}};

std::unique_ptr<QuantileModel> fit(const Sample& data, const std::string& params,
                                   FitInput input = {}) {
  input.x = data.x;
  input.y = data.y;
  return fit_method(find_method("nrc"), input, Params::parse(params));
}

TEST(Nrc, AddsTheGivenPredictionToTheQuantilesOfItsResiduals) {
  const Sample data = draw(find_problem("hetero_1"), 300, Seed{1});
  Matrix given(300, 1);
  std::vector<double> residual(300);
  for (std::size_t i = 0; i < 300; ++i) {
    given(i, 0) = std::sin(static_cast<double>(i));
    residual[i] = data.y[i] - given(i, 0);
  }
  const auto model =
      fit(data, "bandwidth=0.2 scale=none ranks=paper", {.x = {}, .y = {}, .given = given});
  const Prediction actual = model->predict({data.x, given}, kLevels);
  const Prediction quantiles =
      Snq(data.x, residual, {}, {.bandwidth = 0.2}).predict(data.x, kLevels);
  for (std::size_t i = 0; i < 300; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(actual.quantiles(i, j), quantiles.quantiles(i, j) + given(i, 0));
    }
  }
}

TEST(Nrc, ResidualsComeFromRowsThePointModelHasNotSeen) {
  // A forest that memorises its rows has small residuals on them: a calibrator that looked there
  // would be too narrow.
  const Sample data = draw(find_problem("flat"), 600, Seed{2});
  const Sample test = draw(find_problem("flat"), 4'000, Seed{3});
  for (const char* split : {"0.3", "cross", "time"}) {
    const auto model =
        fit(data,
            std::string("regressor=forest depth=20 min_leaf=1 trees=50 bandwidth=infinite split=") +
                split);
    const Prediction p = model->predict({test.x}, kLevels);
    std::size_t inside = 0;
    for (std::size_t i = 0; i < test.y.size(); ++i) {
      if (test.y[i] >= p.quantiles(i, 0) && test.y[i] <= p.quantiles(i, 2)) ++inside;
    }
    const double coverage = static_cast<double>(inside) / static_cast<double>(test.y.size());
    // sd of coverage with 180 calibration rows is 0.022; an in-sample calibrator gives about 0.6.
    EXPECT_GT(coverage, 0.83) << split;
    EXPECT_LT(coverage, 0.97) << split;
  }
}

TEST(Nrc, CrossFittingUsesEveryRowForBothSteps) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{4});
  FitInput input{.x = data.x, .y = data.y};
  const auto trained =
      train_point_model(input, Params::parse("regressor=ridge"),
                        {.kind = SplitRule::Kind::kCross, .share = 0.3, .folds = 4}, {});
  EXPECT_EQ(trained.calibration_rows.size(), 200U);
  EXPECT_EQ(trained.residuals.size(), 200U);
  const auto predicted = trained.model.predict({data.x}, {});
  double difference = 0.0;
  for (std::size_t i = 0; i < 200; ++i) {
    difference += std::abs(data.y[i] - predicted[i] - trained.residuals[i]);
  }
  EXPECT_GT(difference, 1e-6) << "residuals are in-sample";
}

TEST(Nrc, MembersThatAgreeAreNotRoundedAway) {
  Sample data = draw(find_problem("hetero_1"), 100, Seed{4});
  std::fill(data.y.begin(), data.y.end(), 123456.789);
  const auto model = fit(data, "regressor=ridge split=cross folds=7");
  const Prediction p = model->predict({data.x}, kLevels);
  for (const double q : p.quantiles.values()) EXPECT_EQ(q, 123456.789);
}

TEST(Nrc, AGivenPredictionTakesThePlaceOfANetworkButNotOfAForest) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{4});
  const Matrix given(100, 1);
  const FitInput input{.x = data.x, .y = data.y, .given = given};
  for (const char* name : {"nrc", "nrc_rp", "nrc_cov"}) {
    EXPECT_EQ(fit_method(find_method(name), input, {})->given(), 1U) << name;
  }
  for (const char* name : {"nrc_rf", "nrc_embed", "pure_kernel", "lstm_nrc"}) {
    expect_error(ErrorCode::kInvalidArgument, "a prediction is given",
                 [&] { fit_method(find_method(name), input, {}); });
  }
}

TEST(Nrc, WindowsOfASeriesAreSplitInTime) {
  const Sample data = draw(find_problem("hetero_5"), 100, Seed{4});
  FitInput input{.x = data.x, .y = data.y};
  input.window = 5;
  EXPECT_NO_THROW(fit_method(find_method("nrc"), input, Params::parse("regressor=zero")));
  expect_error(ErrorCode::kInvalidArgument, "split=time", [&] {
    fit_method(find_method("nrc"), input, Params::parse("regressor=zero split=0.3"));
  });
}

TEST(Nrc, TimeSplitCalibratesOnTheLastRows) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{4});
  FitInput input{.x = data.x, .y = data.y};
  const auto trained =
      train_point_model(input, Params::parse("regressor=zero"),
                        {.kind = SplitRule::Kind::kTime, .share = 0.2, .folds = 5}, {});
  ASSERT_EQ(trained.calibration_rows.size(), 20U);
  EXPECT_EQ(trained.calibration_rows.front(), 80U);
}

TEST(Nrc, FlaggedRowsCalibrate) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{4});
  std::vector<std::uint8_t> flag(100, 0);
  for (std::size_t i = 0; i < 100; i += 3) flag[i] = 1;
  FitInput input{.x = data.x, .y = data.y};
  input.calibrate_rows = flag;
  const auto trained = train_point_model(input, Params::parse("regressor=zero"), {}, {});
  ASSERT_EQ(trained.calibration_rows.size(), 34U);
  EXPECT_EQ(trained.calibration_rows[1], 3U);
  EXPECT_EQ(trained.residuals[1], data.y[3]);
}

TEST(Nrc, ThePointModelSeesItsColumnsAndTheKernelItsOwn) {
  const Sample data = draw(find_problem("hetero_5"), 300, Seed{5});
  FitInput input{};
  input.model_columns = {0, 1, 2};
  input.calibrate_columns = {4};
  const auto model = fit(data, "regressor=ridge bandwidth=0.1", input);
  Matrix changed = data.x;
  for (std::size_t i = 0; i < 300; ++i) changed(i, 3) += 5.0;  // neither uses it
  const auto before = model->predict({data.x}, kLevels).quantiles;
  EXPECT_TRUE(
      std::ranges::equal(before.values(), model->predict({changed}, kLevels).quantiles.values()));
  for (std::size_t i = 0; i < 300; ++i) changed(i, 4) += 5.0;  // the kernel does
  EXPECT_FALSE(
      std::ranges::equal(before.values(), model->predict({changed}, kLevels).quantiles.values()));
}

TEST(Nrc, TooFewCalibrationRowsAreRefusedWithTheRemedy) {
  const Sample data = draw(find_problem("hetero_1"), 30, Seed{6});
  expect_error(ErrorCode::kBadData, "9 calibration rows are too few",
               [&] { fit(data, "regressor=zero split=0.3"); });
  EXPECT_NO_THROW(fit(data, "regressor=zero split=cross"));
}

TEST(Nrc, WrongOptionsAreRefusedBeforeAnyTraining) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{6});
  const auto refuses = [&](const std::string& params, const std::string& part, ErrorCode code) {
    expect_error(code, part, [&] { fit(data, params); });
  };
  refuses("regressor=zero kernel=box", "known: naive", ErrorCode::kInvalidArgument);
  refuses("regressor=zero bandwidth=-1", "positive number", ErrorCode::kInvalidArgument);
  refuses("regressor=zero bandwidth=wide", "auto, rate", ErrorCode::kInvalidArgument);
  refuses("regressor=zero split=1.5", "between 0 and 1", ErrorCode::kInvalidArgument);
  refuses("regressor=zero fallback=none", "nearest or marginal", ErrorCode::kInvalidArgument);
  refuses("regressor=zero dims=0", "dims", ErrorCode::kInvalidArgument);
  refuses("regressor=zero colour=red", "no option 'colour'", ErrorCode::kInvalidArgument);
  refuses("regressor=tree", "known: ridge", ErrorCode::kNotFound);
  refuses("regressor=ridge reducer=embedding", "one network", ErrorCode::kInvalidArgument);
}

TEST(Nrc, ARowOfZeroWeightIsNotThere) {
  Sample data = draw(find_problem("hetero_1"), 200, Seed{7});
  Matrix given(200, 1);
  std::vector<double> weight(200, 1.0);
  for (std::size_t i = 150; i < 200; ++i) {
    weight[i] = 0.0;
    data.y[i] = 1e6;
  }
  FitInput all{.x = data.x, .y = data.y, .weight = weight, .given = given};
  FitInput part{.x = data.x.view().middle_rows(0, 150),
                .y = std::span<const double>(data.y).first(150),
                .given = given.view().middle_rows(0, 150)};
  for (std::size_t i = 150; i < 200; ++i) data.x(i, 0) = 1e3;
  const Params params = Params::parse("bandwidth=0.1");
  const auto a = fit_method(find_method("nrc"), all, params)->predict({data.x, given}, kLevels);
  const auto b = fit_method(find_method("nrc"), part, params)->predict({data.x, given}, kLevels);
  EXPECT_TRUE(std::ranges::equal(a.quantiles.values(), b.quantiles.values()));
}

}  // namespace
}  // namespace tare
