// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/point_model.h"

#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "data/partition.h"
#include "data/rows.h"
#include "model/mlp.h"

namespace tare {
namespace {

/// The regressor's own options out of all the method's.
Params options_of(const RegressorKind& kind, const Params& params) {
  Params own;
  for (const ParamInfo& option : kind.options) {
    if (params.has(option.name)) own.set(std::string(option.name), params.text(option.name, ""));
  }
  return own;
}

std::unique_ptr<Regressor> train_on(const RegressorKind& kind, const FitInput& input,
                                    std::span<const std::size_t> rows, const Params& params,
                                    Seed seed, const Execution& how) {
  // A row of zero weight says nothing to f, and regressors need not know what to do with it.
  std::vector<std::size_t> used;
  for (const std::size_t i : rows) {
    if (input.weight.empty() || input.weight[i] > 0.0) used.push_back(i);
  }
  if (used.empty()) {
    fail(ErrorCode::kBadData,
         "no row is left to train the point model on (give more rows, or a smaller --split)");
  }
  const Matrix x = take_rows(input.x, used, input.model_columns);
  const std::vector<double> y = take_rows(input.y, used);
  const std::vector<double> weight = take_rows(input.weight, used);
  return kind.fit({x, y, weight}, options_of(kind, params), seed, how);
}

std::vector<double> residuals_of(const FitInput& input, std::span<const std::size_t> rows,
                                 std::span<const double> predicted) {
  std::vector<double> residuals(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) residuals[i] = input.y[rows[i]] - predicted[i];
  return residuals;
}

std::vector<double> predict_rows(const Regressor& regressor, const FitInput& input,
                                 std::span<const std::size_t> rows, const Execution& how) {
  std::vector<double> out(rows.size());
  regressor.predict(take_rows(input.x, rows, input.model_columns), out, how);
  return out;
}

TrainedPointModel use_given(const FitInput& input) {
  TrainedPointModel trained;
  trained.calibration_rows = all_rows(input.x.rows());
  trained.training_rows = trained.calibration_rows;
  std::vector<double> predicted(input.x.rows());
  for (std::size_t i = 0; i < predicted.size(); ++i) predicted[i] = input.given(i, 0);
  trained.residuals = residuals_of(input, trained.calibration_rows, predicted);
  return trained;
}

TrainedPointModel train_once(const RegressorKind& kind, const FitInput& input, const Params& params,
                             Partition parts, const Execution& how) {
  TrainedPointModel trained;
  auto regressor = train_on(kind, input, parts.first, params, split(input.seed, 1), how);
  const auto predicted = predict_rows(*regressor, input, parts.second, how);
  trained.residuals = residuals_of(input, parts.second, predicted);
  std::vector<std::unique_ptr<Regressor>> members;
  members.push_back(std::move(regressor));
  trained.model = PointModel(std::string(kind.name), std::move(members), input.model_columns);
  trained.training_rows = std::move(parts.first);
  trained.calibration_rows = std::move(parts.second);
  return trained;
}

TrainedPointModel train_cross(const RegressorKind& kind, const FitInput& input,
                              const Params& params, std::size_t folds, const Execution& how) {
  const std::size_t rows = input.x.rows();
  if (folds > rows) {
    fail(ErrorCode::kBadData, "{} folds need at least as many rows, and there are {}", folds, rows);
  }
  const auto fold_of_row = random_folds(rows, folds, split(input.seed, 0));
  TrainedPointModel trained;
  trained.residuals.resize(rows);
  std::vector<std::unique_ptr<Regressor>> members(folds);
  // Folds side by side, each on its own thread; with fewer folds than threads the rest helps
  // inside.
  Execution inner;
  inner.threads = std::max<std::size_t>(1, thread_count(how) / folds);
  parallel_for(how, folds, [&](std::size_t fold) {
    const Partition parts = fold_partition(fold_of_row, fold);
    members[fold] = train_on(kind, input, parts.first, params, split(input.seed, 1 + fold), inner);
    const auto predicted = predict_rows(*members[fold], input, parts.second, inner);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      trained.residuals[parts.second[i]] = input.y[parts.second[i]] - predicted[i];
    }
  });
  trained.model = PointModel(std::string(kind.name), std::move(members), input.model_columns);
  trained.calibration_rows = all_rows(rows);
  trained.training_rows = trained.calibration_rows;
  return trained;
}

}  // namespace

PointModel::PointModel(std::string regressor, std::vector<std::unique_ptr<Regressor>> members,
                       std::vector<std::size_t> columns)
    : regressor_(std::move(regressor)),
      members_(std::move(members)),
      columns_(std::move(columns)) {}

std::vector<double> PointModel::predict(const Rows& rows, const Execution& how) const {
  std::vector<double> out(rows.x.rows(), 0.0);
  if (is_given()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = rows.given(i, 0);
    return out;
  }
  Matrix chosen;
  if (!columns_.empty()) chosen = take_rows(rows.x, all_rows(rows.x.rows()), columns_);
  const MatrixView x = columns_.empty() ? rows.x : chosen.view();
  // The first member plus the mean of the others' differences from it: members that agree give
  // exactly what they say.
  std::vector<double> first(out.size());
  std::vector<double> other(out.size());
  members_.front()->predict(x, first, how);
  for (std::size_t k = 1; k < members_.size(); ++k) {
    members_[k]->predict(x, other, how);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += other[i] - first[i];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = first[i] + out[i] / static_cast<double>(members_.size());
  }
  return out;
}

Matrix PointModel::embed(MatrixView x, const Execution& how) const {
  const MlpRegressor* network = members_.size() == 1 ? as_mlp(*members_.front()) : nullptr;
  if (network == nullptr) {
    fail(ErrorCode::kInvalidArgument,
         "calibrating on an embedding needs one network as the point model (use --regressor mlp, "
         "and a --split "
         "other than cross)");
  }
  if (columns_.empty()) return network->embed(x, how);
  return network->embed(take_rows(x, all_rows(x.rows()), columns_), how);
}

void PointModel::check_inputs(std::size_t inputs) const {
  const std::size_t width = columns_.empty() ? inputs : columns_.size();
  for (const auto& member : members_) {
    if (member->features() != width) {
      fail(ErrorCode::kCorruptFile,
           "the model file's point model reads {} features and is given {}", member->features(),
           width);
    }
  }
  for (const std::size_t column : columns_) {
    if (column >= inputs)
      fail(ErrorCode::kCorruptFile, "the model file names feature {} of {}", column, inputs);
  }
}

void PointModel::save(const TensorWriter& out) const {
  out.value("regressor", is_given() ? "given" : regressor_);
  out.value("members", members_.size());
  const std::vector<std::int64_t> columns(columns_.begin(), columns_.end());
  out.tensor("columns", columns);
  for (std::size_t k = 0; k < members_.size(); ++k) members_[k]->save(out.part(std::to_string(k)));
}

PointModel PointModel::load(const TensorReader& in) {
  PointModel model;
  constexpr std::size_t kMostMembers = 10'000;
  model.regressor_ = in.get<std::string>("regressor");
  const std::size_t members = in.count("members", kMostMembers);
  if ((members == 0) != (model.regressor_ == "given")) {
    fail(ErrorCode::kCorruptFile, "the model file's point model '{}' has {} members",
         model.regressor_, members);
  }
  for (const std::int64_t column : in.values<std::int64_t>("columns", in.shape("columns"))) {
    model.columns_.push_back(static_cast<std::size_t>(column));  // checked against x by the caller
  }
  for (std::size_t k = 0; k < members; ++k) {
    model.members_.push_back(find_regressor(model.regressor_).load(in.part(std::to_string(k))));
  }
  return model;
}

SplitRule parse_split(const Params& params) {
  SplitRule rule;
  rule.folds = params.count("folds", 5, 2, 1000);
  const std::string text = params.text("split", "0.3");
  const std::vector<std::string> parts = split_text(text, ':');
  const std::string kind = canonical_name(parts[0]);
  const auto share_from = [&](const std::string& value) {
    const auto share = parse_number(value);
    if (!share || !(*share > 0.0 && *share < 1.0)) {
      fail(ErrorCode::kInvalidArgument,
           "--split is a share between 0 and 1, cross, time, time:SHARE or by:COL=VALUE, got '{}'",
           text);
    }
    return *share;
  };
  if (kind == "cross" && parts.size() == 1) {
    rule.kind = SplitRule::Kind::kCross;
  } else if (kind == "time" && parts.size() <= 2) {
    rule.kind = SplitRule::Kind::kTime;
    if (parts.size() == 2) rule.share = share_from(parts[1]);
  } else {
    rule.share = share_from(text);
  }
  return rule;
}

TrainedPointModel train_point_model(const FitInput& input, const Params& params,
                                    const SplitRule& rule, const Execution& how) {
  if (input.given.cols() > 0) return use_given(input);
  const RegressorKind& kind = find_regressor(params.text("regressor", "forest"));
  const std::size_t rows = input.x.rows();
  if (!input.calibrate_rows.empty()) {
    return train_once(kind, input, params, flagged_partition(input.calibrate_rows), how);
  }
  switch (rule.kind) {
    case SplitRule::Kind::kCross:
      return train_cross(kind, input, params, rule.folds, how);
    case SplitRule::Kind::kTime:
      return train_once(kind, input, params, time_partition(rows, rule.share), how);
    case SplitRule::Kind::kShare:
      break;
  }
  return train_once(kind, input, params, random_partition(rows, rule.share, split(input.seed, 0)),
                    how);
}

}  // namespace tare
