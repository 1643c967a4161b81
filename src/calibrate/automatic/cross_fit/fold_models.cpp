// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/cross_fit/fold_models.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "data/partition.h"
#include "data/rows.h"

namespace tare::automatic {
namespace {

constexpr std::size_t kMostModels = 10'000;

/// A model's answer in units of the target's spread. Beyond 1e100 it says nothing but its sign, and
/// squares of answers are finite.
double tame(double answer) {
  constexpr double kFarthest = 1e100;
  return std::clamp(answer, -kFarthest, kFarthest);
}

Matrix predict_with(const nn::HeadNetwork& model, MatrixView x, const Execution& how) {
  Matrix out(x.rows(), model.heads());
  model.predict(x, out, how);
  return out;
}

Matrix predict_with(const NamedRegressor& named, MatrixView x, const Execution& how) {
  Matrix out(x.rows(), 1);
  named.model->predict(x, out.values(), how);
  return out;
}

Matrix predict_with(const QuantileBoosting& model, MatrixView x, const Execution& how) {
  Matrix out(x.rows(), model.levels());
  model.predict(x, out, how);
  return out;
}

}  // namespace

std::size_t FoldModel::features() const {
  if (const auto* network = std::get_if<nn::HeadNetwork>(&model_)) return network->features();
  if (const auto* boosting = std::get_if<QuantileBoosting>(&model_)) return boosting->features();
  return std::get<NamedRegressor>(model_).model->features();
}

std::size_t FoldModel::answers() const {
  if (const auto* network = std::get_if<nn::HeadNetwork>(&model_)) return network->heads();
  if (const auto* boosting = std::get_if<QuantileBoosting>(&model_)) return boosting->levels();
  return 1;
}

Matrix FoldModel::predict(MatrixView x, const Execution& how) const {
  return std::visit([&](const auto& model) { return predict_with(model, x, how); }, model_);
}

void FoldModel::save(const TensorWriter& out) const {
  if (const auto* network = std::get_if<nn::HeadNetwork>(&model_)) {
    out.value("kind", "network");
    network->save(out);
  } else if (const auto* boosting = std::get_if<QuantileBoosting>(&model_)) {
    out.value("kind", "quantile_boosting");
    boosting->save(out);
  } else {
    const auto& named = std::get<NamedRegressor>(model_);
    out.value("kind", named.name);
    named.model->save(out);
  }
}

FoldModel FoldModel::load(const TensorReader& in) {
  const auto kind = in.get<std::string>("kind");
  if (kind == "network") return FoldModel(nn::HeadNetwork::load(in));
  if (kind == "quantile_boosting") return FoldModel(QuantileBoosting::load(in));
  for (const RegressorKind& known : regressors()) {
    if (known.name == kind) return FoldModel(NamedRegressor{kind, known.load(in)});
  }
  fail(ErrorCode::kCorruptFile,
       "the model file has a fold model of a kind that tare does not know");
}

Folds Folds::random(std::size_t rows, std::size_t count, Seed seed) {
  Folds folds{std::vector<std::uint32_t>(rows), count, 0};
  Rng rng(seed);
  const std::vector<std::size_t> order = random_permutation(rows, rng);
  for (std::size_t k = 0; k < rows; ++k) {
    folds.of_row[order[k]] = static_cast<std::uint32_t>(k % count);
  }
  return folds;
}

Folds Folds::stretches(std::size_t rows, std::size_t count, std::size_t gap) {
  Folds folds{std::vector<std::uint32_t>(rows), count, gap};
  for (std::size_t i = 0; i < rows; ++i) {
    folds.of_row[i] = static_cast<std::uint32_t>(i * count / rows);
  }
  return folds;
}

Folds Folds::shifted_stretches(std::size_t rows, std::size_t count, std::size_t gap) {
  Folds folds{std::vector<std::uint32_t>(rows), count, gap};
  for (std::size_t i = 0; i < rows; ++i) {
    folds.of_row[i] = static_cast<std::uint32_t>((2 * i * count + rows) / (2 * rows) % count);
  }
  return folds;
}

std::vector<std::size_t> Folds::outside(std::size_t fold) const {
  return rows_outside(of_row, fold, gap);
}

std::vector<std::size_t> Folds::inside(std::size_t fold) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (of_row[i] == fold) rows.push_back(i);
  }
  return rows;
}

FoldModels::FoldModels(std::vector<FoldModel> models, std::size_t folds)
    : models_(std::move(models)), folds_(folds) {}

Matrix FoldModels::predict(MatrixView x, const Execution& how) const {
  Matrix sum(x.rows(), answers());
  for (const FoldModel& model : models_) {
    const Matrix own = model.predict(x, how);
    for (std::size_t i = 0; i < own.values().size(); ++i) sum.values()[i] += tame(own.values()[i]);
  }
  for (double& value : sum.values()) value /= static_cast<double>(models_.size());
  return sum;
}

Matrix FoldModels::out_of_fold(MatrixView x, const Folds& folds, const Execution& how) const {
  Matrix result(x.rows(), answers());
  const std::size_t members = models_.size() / folds_;
  parallel_for(how, folds_, [&](std::size_t fold) {
    const std::vector<std::size_t> rows = folds.inside(fold);
    const Matrix own_x = take_rows(x, rows);
    for (std::size_t m = 0; m < members; ++m) {
      const Matrix own = models_[fold * members + m].predict(own_x, one_thread());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < own.cols(); ++k) result(rows[i], k) += tame(own(i, k));
      }
    }
    for (const std::size_t row : rows) {
      for (double& value : result.row(row)) value /= static_cast<double>(members);
    }
  });
  return result;
}

void FoldModels::save(const TensorWriter& out) const {
  out.value("folds", folds_);
  out.value("models", models_.size());
  for (std::size_t k = 0; k < models_.size(); ++k) models_[k].save(out.part(std::to_string(k)));
}

FoldModels FoldModels::load(const TensorReader& in) {
  const std::size_t folds = in.count("folds", kMostModels);
  const std::size_t count = in.count("models", kMostModels);
  if (folds == 0 || count == 0 || count % folds != 0) {
    fail(ErrorCode::kCorruptFile, "the model file has {} models for {} folds", count, folds);
  }
  std::vector<FoldModel> models;
  for (std::size_t k = 0; k < count; ++k) {
    models.push_back(FoldModel::load(in.part(std::to_string(k))));
    if (models.back().features() != models.front().features() ||
        models.back().answers() != models.front().answers()) {
      fail(ErrorCode::kCorruptFile, "the model file's fold models do not fit together");
    }
  }
  return {std::move(models), folds};
}

void Progress::advance(std::string_view stage, double units) {
  const std::lock_guard lock(guard_);
  done_ += units;
  if (how_.progress) how_.progress(stage, std::min(1.0, done_ / total_));
}

std::vector<FoldModel> train_fold_range(const RegressionData& data, const Folds& folds,
                                        const FoldRange& range, std::size_t members,
                                        const Learner& learner, Seed seed, const Execution& how) {
  std::vector<std::optional<FoldModel>> trained((range.last - range.first) * members);
  parallel_for(how, trained.size(), [&](std::size_t k) {
    const std::size_t number = range.first * members + k;
    const std::vector<std::size_t> rows = folds.outside(number / members);
    const Matrix x = take_rows(data.x, rows);
    const std::vector<double> y = take_rows(data.y, rows);
    const std::vector<double> weight = take_rows(data.weight, rows);
    trained[k].emplace(learner({x, y, weight}, split(seed, number)));
  });
  std::vector<FoldModel> models;
  for (std::optional<FoldModel>& model : trained) models.push_back(*std::move(model));
  return models;
}

FoldModels train_folds(const RegressionData& data, const Folds& folds, std::size_t members,
                       const Learner& learner, Seed seed, const Execution& how) {
  return {train_fold_range(data, folds, {0, folds.count}, members, learner, seed, how),
          folds.count};
}

}  // namespace tare::automatic
