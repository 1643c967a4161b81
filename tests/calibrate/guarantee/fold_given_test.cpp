// SPDX-License-Identifier: BSD-3-Clause
// Guarantees whose rows were set apart before a model outside was trained.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "calibrate/guarantee/fold_given.h"
#include "calibrate/guarantee/guarantee.h"
#include "expect_error.h"
#include "io/temp_folder.h"
#include "io/tensor_store.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/model_file.h"
#include "tare/data/problem.h"

namespace tare {
namespace {

constexpr std::size_t kFolds = 4;

/// Rows in folds, with a point prediction for each fold.
struct FoldRows {
  explicit FoldRows(std::size_t rows)
      : data(draw(find_problem("hetero_2"), rows, Seed{3})), given(rows, kFolds), fold(rows) {
    Rng rng(Seed{5});
    for (std::size_t i = 0; i < rows; ++i) {
      fold[i] = static_cast<std::uint32_t>(i * 7 % kFolds);
      for (std::size_t k = 0; k < kFolds; ++k) given(i, k) = data.x(i, 0) + 0.1 * rng.normal();
    }
  }

  FitInput input() const {
    FitInput input{.x = data.x, .y = data.y, .given = given};
    input.given_form = {.kind = GivenKind::kFoldPoints, .levels = {}, .folds = kFolds};
    input.fold = fold;
    input.seed = Seed{12};
    return input;
  }

  Sample data;
  Matrix given;
  std::vector<std::uint32_t> fold;
};

std::unique_ptr<QuantileModel> fit_folds(const FitInput& input, const char* method = "nrc") {
  return fit_method(find_method(method), input, Params::parse("guarantee=cross:4"));
}

TensorStore saved(const QuantileModel& model) {
  TensorStore store;
  model.save(TensorWriter(store));
  return store;
}

/// Whether all that two models have under these names is the same.
void expect_same(const TensorStore& one, const TensorStore& other, const std::string& prefix,
                 bool same) {
  std::size_t seen = 0;
  bool equal = true;
  for (const auto& [name, tensor] : one.tensors) {
    if (!name.starts_with(prefix) || (prefix.empty() && name.starts_with("guarantee"))) continue;
    ++seen;
    const auto there = other.tensors.find(name);
    equal = equal && there != other.tensors.end() && tensor.shape == there->second.shape &&
            std::ranges::equal(tensor.bytes.span(), there->second.bytes.span());
  }
  EXPECT_GT(seen, 2U);
  EXPECT_EQ(equal, same) << prefix;
}

/// With the same prediction for each fold it is the guarantee around one model.
TEST(FoldGiven, OfEqualColumnsIsTheGuaranteeAroundOneModel) {
  FoldRows rows(120);
  Matrix one(120, 1);
  for (std::size_t i = 0; i < 120; ++i) {
    for (std::size_t k = 0; k < kFolds; ++k) rows.given(i, k) = rows.given(i, 0);
    one(i, 0) = rows.given(i, 0);
  }
  FitInput plain{.x = rows.data.x, .y = rows.data.y, .given = one};
  plain.seed = Seed{12};
  const FoldPlan plan =
      guarantee_folds(plain, {GuaranteeRule::Form::kCross, 0.2, kFolds}, RowOrder::kNone);
  rows.fold.assign(plan.fold_of_row.begin(), plan.fold_of_row.end());
  for (const char* method : {"nrc", "nrc_boost"}) {
    const auto expected = fit_folds(plain, method)->predict({rows.data.x, one}, metric_levels());
    const auto model = fit_folds(rows.input(), method);
    EXPECT_EQ(model->given(), kFolds);
    EXPECT_EQ(model->given_form().columns(), kFolds);
    const auto got = model->predict({rows.data.x, rows.given}, metric_levels());
    EXPECT_TRUE(std::ranges::equal(expected.quantiles.values(), got.quantiles.values())) << method;
  }
}

/// What the bound rests on: neither the targets of a fold nor any prediction for its rows, nor the
/// columns of others, reach its model.
TEST(FoldGiven, AFoldsModelDoesNotKnowItsRows) {
  FoldRows rows(120);
  const TensorStore before = saved(*fit_folds(rows.input()));
  for (std::size_t i = 0; i < 120; ++i) {
    if (rows.fold[i] == 1) {
      rows.data.y[i] += 100.0;
      rows.data.x(i, 1) = 0.5;
      for (std::size_t k = 0; k < kFolds; ++k) rows.given(i, k) -= 3.0;
    }
  }
  expect_same(before, saved(*fit_folds(rows.input())), "fold1.", true);
  expect_same(before, saved(*fit_folds(rows.input())), "fold2.", false);
  FoldRows others(120);
  for (std::size_t i = 0; i < 120; ++i) others.given(i, 2) += 0.1 * static_cast<double>(i);
  expect_same(before, saved(*fit_folds(others.input())), "fold1.", true);
  expect_same(before, saved(*fit_folds(others.input())), "fold2.", false);
}

TEST(FoldGiven, AFileKeepsIt) {
  const TempFolder folder;
  const FoldRows rows(120);
  FittedModel fitted;
  fitted.method = "nrc";
  fitted.rows = 120;
  fitted.model = fit_folds(rows.input());
  const std::string path = folder / "model.tare";
  save_model(path, fitted);
  const FittedModel loaded = load_model(path);
  EXPECT_EQ(loaded.model->given(), kFolds);
  EXPECT_TRUE(loaded.model->given_form().kind == GivenKind::kFoldPoints);
  const Rows all{rows.data.x, rows.given};
  const auto before = fitted.model->predict(all, metric_levels());
  const auto after = loaded.model->predict(all, metric_levels());
  EXPECT_TRUE(std::ranges::equal(before.quantiles.values(), after.quantiles.values()));

  TensorStore store = saved(*fitted.model);
  const auto load = [&] {
    GuaranteedModel::load(TensorReader(store), [](const TensorReader& one) {
      return load_fold_model(one, find_method("nrc").load);
    });
  };
  load();
  store.values["fold1.fold_given.column"] = std::size_t{5};
  expect_error(ErrorCode::kCorruptFile, "column 5 of 4", load);
}

TEST(FoldGiven, WhatDoesNotFitIsAnError) {
  const FoldRows rows(120);
  const auto fails = [&](ErrorCode code, const std::string& part, const char* guarantee,
                         auto&& change) {
    FitInput input = rows.input();
    change(input);
    expect_error(code, part, [&] {
      fit_method(find_method("nrc"), input, Params::parse(std::string("guarantee=") + guarantee));
    });
  };
  const auto nothing = [](FitInput&) {};
  fails(ErrorCode::kInvalidArgument, "guarantee=cross", "none", nothing);
  fails(ErrorCode::kInvalidArgument, "guarantee=cross", "split", nothing);
  fails(ErrorCode::kInvalidArgument, "fold of each row", "cross:4",
        [](FitInput& input) { input.fold = {}; });
  std::vector<std::uint32_t> fold = rows.fold;
  fold[3] = (fold[3] + 1) % kFolds;
  fails(ErrorCode::kBadData, "from 29 to 31 rows", "cross:4",
        [&](FitInput& input) { input.fold = fold; });
  fold[3] = kFolds;
  fails(ErrorCode::kInvalidArgument, "fold 4", "cross:4",
        [&](FitInput& input) { input.fold = fold; });
  fails(ErrorCode::kShapeMismatch, "fit: 120 rows", "cross:4",
        [&](FitInput& input) { input.fold = std::span<const std::uint32_t>(fold).first(5); });
}

/// Rows that are held out outside are ranked and reach nothing else.
TEST(StatedRows, AreRankedAndReachNoModel) {
  Sample data = draw(find_problem("hetero_2"), 150, Seed{4});
  const Matrix given(150, 1);
  std::vector<std::uint8_t> held_out(150, 0);
  for (std::size_t i = 0; i < 150; i += 3) held_out[i] = 1;
  FitInput input{.x = data.x, .y = data.y, .given = given};
  input.held_out_rows = held_out;
  const auto fit = [&](const char* params) {
    return fit_method(find_method("nrc"), input, Params::parse(params));
  };
  const auto before = fit("guarantee=split");
  const auto& guaranteed = dynamic_cast<const GuaranteedModel&>(*before);
  EXPECT_EQ(guaranteed.folds(), 1U);
  EXPECT_EQ(guaranteed.overall().rows(), 50U);
  for (std::size_t i = 0; i < 150; i += 3) data.y[i] += 50.0;
  const auto after = fit("guarantee=split:0.5");
  expect_same(saved(*before), saved(*after), "", true);
  const std::vector<Level> high = {Level(0.9)};
  const Rows rows{data.x, given};
  EXPECT_GT(after->predict(rows, high).quantiles(0, 0), 40.0);
  EXPECT_LT(before->predict(rows, high).quantiles(0, 0), 20.0);

  expect_error(ErrorCode::kInvalidArgument, "guarantee=split", [&] { fit("guarantee=cross"); });
  expect_error(ErrorCode::kInvalidArgument, "guarantee=split", [&] { fit(""); });
  std::ranges::fill(held_out, 0);
  std::ranges::fill_n(held_out.begin(), 18, 1);
  expect_error(ErrorCode::kBadData, "18 of 150 rows are held out", [&] { fit("guarantee=split"); });
}

}  // namespace
}  // namespace tare
