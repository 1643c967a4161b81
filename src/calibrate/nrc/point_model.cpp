// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/nrc/point_model.h"

#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "base/strings.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/bounded.h"
#include "model/network/mlp.h"

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
  const TrainingRows used(input, rows);
  return kind.fit(used.data(), options_of(kind, params), seed, how);
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
  GivenLaw law = GivenLaw::fit(input.given_form, input.given);
  GivenLaw::Residuals residuals = law.residuals(input.given, input.y);
  trained.residuals = std::move(residuals.u);
  if (input.given_form.kind != GivenKind::kPoint) trained.unit = std::move(residuals.unit);
  trained.model = PointModel(std::move(law));
  return trained;
}

TrainedPointModel train_once(const RegressorKind& kind, const FitInput& input, const Params& params,
                             Partition parts, const Execution& how) {
  TrainedPointModel trained;
  auto regressor = train_on(kind, input, parts.first, params, split(input.seed, 1), how);
  trained.predicted = predict_rows(*regressor, input, parts.second, how);
  trained.residuals = residuals_of(input, parts.second, trained.predicted);
  std::vector<std::unique_ptr<Regressor>> members;
  members.push_back(std::move(regressor));
  trained.model =
      PointModel(std::string(kind.name), std::move(members), ModelColumns(input.model_columns));
  trained.training_rows = std::move(parts.first);
  trained.calibration_rows = std::move(parts.second);
  return trained;
}

TrainedPointModel train_cross(const RegressorKind& kind, const FitInput& input,
                              const Params& params, std::size_t folds, const Execution& how) {
  const std::size_t rows = input.x.rows();
  if (folds > rows) {
    fail(ErrorCode::kBadData, "{} folds need at least as many rows, but there are {}", folds, rows);
  }
  const auto fold_of_row =
      input.window > 1 ? time_folds(rows, folds) : random_folds(rows, folds, split(input.seed, 0));
  TrainedPointModel trained;
  trained.residuals.resize(rows);
  trained.predicted.resize(rows);
  std::vector<std::unique_ptr<Regressor>> members(folds);
  // Folds side by side, each on its own thread; with fewer folds than threads the rest helps
  // inside.
  Execution inner;
  inner.threads = std::max<std::size_t>(1, thread_count(how) / folds);
  parallel_for(how, folds, [&](std::size_t fold) {
    const Partition parts = fold_partition(fold_of_row, fold, input.window);
    members[fold] = train_on(kind, input, parts.first, params, split(input.seed, 1 + fold), inner);
    const auto predicted = predict_rows(*members[fold], input, parts.second, inner);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      trained.predicted[parts.second[i]] = predicted[i];
      trained.residuals[parts.second[i]] = input.y[parts.second[i]] - predicted[i];
    }
  });
  trained.model =
      PointModel(std::string(kind.name), std::move(members), ModelColumns(input.model_columns));
  trained.calibration_rows = all_rows(rows);
  trained.training_rows = trained.calibration_rows;
  return trained;
}

}  // namespace

PointModel::PointModel(std::string regressor, std::vector<std::unique_ptr<Regressor>> members,
                       ModelColumns columns)
    : regressor_(std::move(regressor)),
      members_(std::move(members)),
      columns_(std::move(columns)) {}

std::vector<double> PointModel::predict(const Rows& rows, const Execution& how) const {
  std::vector<double> out(rows.x.rows(), 0.0);
  if (is_given()) {
    RowLaw law;
    for (std::size_t i = 0; i < out.size(); ++i) {
      law_.read(rows.given.row(i), law);
      out[i] = law.center();
    }
    return out;
  }
  Matrix chosen;
  const MatrixView x = columns_.select(rows.x, chosen);
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
    out[i] = bounded(first[i] + out[i] / static_cast<double>(members_.size()));
  }
  return out;
}

Matrix PointModel::embed(MatrixView x, const Execution& how) const {
  const MlpRegressor* network = members_.size() == 1 ? as_mlp(*members_.front()) : nullptr;
  if (network == nullptr) {
    const bool in_folds = members_.size() > 1;
    fail(ErrorCode::kInvalidArgument,
         {.remedies = {in_folds ? use("split", "", "other than cross") : use("regressor", "mlp")}},
         "calibrating on an embedding needs one network as the point model{}",
         in_folds ? fmt::format(", not one for each of {} folds", members_.size()) : "");
  }
  Matrix chosen;
  return network->embed(columns_.select(x, chosen), how);
}

void PointModel::save(const TensorWriter& out) const {
  out.value("regressor", name());
  out.value("members", members_.size());
  law_.save(out.part("given"));
  columns_.save(out);
  for (std::size_t k = 0; k < members_.size(); ++k) members_[k]->save(out.part(std::to_string(k)));
}

PointModel PointModel::load(const TensorReader& in, std::size_t inputs) {
  PointModel model;
  constexpr std::size_t kMostMembers = 10'000;
  model.regressor_ = in.get<std::string>("regressor");
  const std::size_t members = in.count("members", kMostMembers);
  if ((members == 0) != (model.regressor_ == "given")) {
    fail(ErrorCode::kCorruptFile, "the model file's point model '{}' has {} members",
         model.regressor_, members);
  }
  if (members == 0) model.law_ = GivenLaw::load(in.part("given"));
  model.columns_ = ModelColumns::load(in, inputs);
  for (std::size_t k = 0; k < members; ++k) {
    auto member = find_regressor(model.regressor_).load(in.part(std::to_string(k)));
    if (member->features() != model.columns_.width(inputs)) {
      fail(ErrorCode::kCorruptFile,
           "the model file's point model reads {} features and is given {}", member->features(),
           model.columns_.width(inputs));
    }
    model.members_.push_back(std::move(member));
  }
  return model;
}

TrainedPointModel train_point_model(const FitInput& input, const Params& params,
                                    const SplitRule& rule, const Execution& how) {
  if (input.given.cols() > 0) return use_given(input);
  const RegressorKind& kind = find_regressor(params.text("regressor", "forest"));
  if (input.calibrate_rows.empty() && rule.kind == SplitRule::Kind::kCross) {
    return train_cross(kind, input, params, rule.folds, how);
  }
  return train_once(kind, input, params, hold_out(input, rule), how);
}

}  // namespace tare
