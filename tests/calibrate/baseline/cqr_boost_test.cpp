// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/cqr_boost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/rows.h"
#include "expect_error.h"
#include "tare/calibrate/methods.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

std::unique_ptr<QuantileModel> fit(const FitInput& input, const char* params = "members=2") {
  return fit_method(find_method("cqr_boost"), input, Params::parse(params));
}

std::vector<double> quantiles(const QuantileModel& model, MatrixView x,
                              std::span<const Level> levels) {
  const Prediction p = model.predict({x}, levels);
  return {p.quantiles.values().begin(), p.quantiles.values().end()};
}

TEST(CqrBoost, AnAnswerDoesNotDependOnTheOtherLevels) {
  const Sample data = draw(find_problem("hetero_2"), 200, Seed{1});
  const auto model = fit({.x = data.x, .y = data.y});
  const std::vector<Level> levels = metric_levels();
  const MatrixView some = data.x.view().middle_rows(0, 5);
  const std::vector<double> all = quantiles(*model, some, levels);
  for (std::size_t k = 0; k < levels.size(); k += 9) {
    const auto alone = quantiles(*model, some, std::span(levels).subspan(k, 1));
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(alone[i], all[i * levels.size() + k]);
  }
}

TEST(CqrBoost, ALevelThatTheRowsCannotVouchForIsFinite) {
  const Sample data = draw(find_problem("hetero_1"), 200, Seed{1});  // 60 of them calibrate
  const auto model = fit({.x = data.x, .y = data.y});
  const std::vector<Level> levels = {Level{1e-9}, Level{0.008}, Level{0.02},
                                     Level{0.98}, Level{0.992}, Level{0.999999}};
  const auto q = quantiles(*model, data.x.view().middle_rows(0, 1), levels);
  EXPECT_TRUE(std::ranges::is_sorted(q));
  for (const double value : q) EXPECT_TRUE(std::isfinite(value));
}

TEST(CqrBoost, RowsOfZeroWeightAreNotThere) {
  const Sample data = draw(find_problem("hetero_2"), 240, Seed{2});
  std::vector<double> y = data.y, weight(240, 1.0);
  std::vector<std::uint8_t> calibrates(240, 0);
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < 240; ++i) {
    calibrates[i] = i % 3 == 0;
    if (i % 5 == 0) {
      weight[i] = 0.0;
      y[i] = 1e6;
    } else {
      weight[i] = 1.0 + static_cast<double>(i % 2);
      there.push_back(i);
    }
  }
  FitInput with{.x = data.x, .y = y, .weight = weight};
  with.calibrate_rows = calibrates;
  const Matrix x = take_rows(data.x.view(), there);
  const std::vector<double> fewer = take_rows(y, there), heavy = take_rows(weight, there);
  std::vector<std::uint8_t> flags;
  for (const std::size_t i : there) flags.push_back(calibrates[i]);
  FitInput without{.x = x, .y = fewer, .weight = heavy};
  without.calibrate_rows = flags;
  EXPECT_EQ(quantiles(*fit(with), data.x, metric_levels()),
            quantiles(*fit(without), data.x, metric_levels()));
}

TEST(CqrBoost, ReadsTheModelsColumnsOnly) {
  const Sample data = draw(find_problem("hetero_2"), 240, Seed{3});
  FitInput input{.x = data.x, .y = data.y};
  input.model_columns = {1};
  const auto model = fit(input);
  Matrix other = data.x;
  for (std::size_t i = 0; i < other.rows(); ++i) other(i, 0) = -7.0;
  EXPECT_EQ(quantiles(*model, data.x, metric_levels()), quantiles(*model, other, metric_levels()));
  Matrix moved = data.x;
  for (std::size_t i = 0; i < moved.rows(); ++i) moved(i, 1) = 1.0 - moved(i, 1);
  EXPECT_NE(quantiles(*model, data.x, metric_levels()), quantiles(*model, moved, metric_levels()));

  TensorStore store;
  model->save(TensorWriter(store));
  const auto loaded = load_cqr_boost(TensorReader(store));
  EXPECT_EQ(quantiles(*model, data.x, metric_levels()),
            quantiles(*loaded, data.x, metric_levels()));
}

TEST(CqrBoost, WhatItCannotDoIsRefused) {
  const Sample data = draw(find_problem("hetero_1"), 100, Seed{1});
  const FitInput input{.x = data.x, .y = data.y};
  expect_error(ErrorCode::kInvalidArgument, "not cross", [&] { fit(input, "split=cross"); });
  expect_error(ErrorCode::kInvalidArgument, "depth", [&] { fit(input, "depth=99"); });
  expect_error(ErrorCode::kBadData, "too few", [&] { fit(input, "split=0.05"); });
  FitInput all = input;
  const std::vector<std::uint8_t> flags(100, 1);
  all.calibrate_rows = flags;
  expect_error(ErrorCode::kBadData, "no row is left to train", [&] { fit(all); });
}

TEST(CqrBoost, DamagedFilesAreRefused) {
  const Sample data = draw(find_problem("hetero_2"), 100, Seed{1});
  TensorStore store;
  fit({.x = data.x, .y = data.y})->save(TensorWriter(store));
  const auto refused = [&](const std::function<void(TensorStore&)>& damage) {
    TensorStore damaged = store;
    damage(damaged);
    expect_error(ErrorCode::kCorruptFile, "model file",
                 [&] { load_cqr_boost(TensorReader(damaged)); });
  };
  refused([](TensorStore& s) { s.values["features"] = 3; });
  refused([](TensorStore& s) { s.values["features"] = -1; });
  refused([](TensorStore& s) {
    s.tensors.erase("columns");
    TensorWriter(s).tensor("columns", std::vector<std::int64_t>{0});
  });
  refused([](TensorStore& s) { s.tensors.erase("bands.shift"); });
  refused([](TensorStore& s) { s.tensors.erase("boosting.leaf"); });
}

}  // namespace
}  // namespace tare
