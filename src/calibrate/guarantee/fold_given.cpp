// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/fold_given.h"

#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

constexpr const char* kFileColumn = "fold_given.column";
constexpr const char* kFileFolds = "fold_given.folds";

Matrix column_of(MatrixView all, std::size_t column) {
  Matrix own(all.rows(), 1);
  for (std::size_t i = 0; i < all.rows(); ++i) own(i, 0) = all(i, column);
  return own;
}

Matrix mean_of_columns(MatrixView all) {
  Matrix mean(all.rows(), 1);
  for (std::size_t i = 0; i < all.rows(); ++i) {
    for (const double value : all.row(i)) mean(i, 0) += value / static_cast<double>(all.cols());
  }
  return mean;
}

}  // namespace

FoldGivenModel::FoldGivenModel(std::unique_ptr<const QuantileModel> inner, std::size_t column,
                               std::size_t folds)
    : inner_(std::move(inner)), column_(column), folds_(folds) {}

Prediction FoldGivenModel::predict_ascending(const Rows& rows, std::span<const Level> levels,
                                             const Execution& how) const {
  const Matrix own =
      column_ == folds_ ? mean_of_columns(rows.given) : column_of(rows.given, column_);
  return inner_->predict({rows.x, own, rows.group}, levels, how);
}

void FoldGivenModel::save(const TensorWriter& out) const {
  inner_->save(out);
  out.value(kFileColumn, column_);
  out.value(kFileFolds, folds_);
}

GuaranteedModel::FitRows fit_on_fold_columns(GuaranteedModel::FitRows fit) {
  return [fit = std::move(fit), column = std::size_t{0}](
             const FitInput& rows,
             const Execution& how) mutable -> std::unique_ptr<const QuantileModel> {
    const std::size_t own = column++;
    const Matrix given = column_of(rows.given, own);
    FitInput input = rows;
    input.given = given;
    input.given_form = {};
    return std::make_unique<FoldGivenModel>(fit(input, how), own, rows.given.cols());
  };
}

GuaranteedModel::FitRows fit_on_fold_means(GuaranteedModel::FitRows fit) {
  return [fit = std::move(fit)](const FitInput& rows,
                                const Execution& how) -> std::unique_ptr<const QuantileModel> {
    Matrix given(rows.x.rows(), 1);
    for (std::size_t i = 0; i < rows.x.rows(); ++i) given(i, 0) = rows.given(i, rows.fold[i]);
    FitInput input = rows;
    input.given = given;
    input.given_form = {};
    input.fold = {};
    const std::size_t folds = rows.given.cols();
    return std::make_unique<FoldGivenModel>(fit(input, how), folds, folds);
  };
}

std::unique_ptr<const QuantileModel> load_fold_model(const TensorReader& in,
                                                     const GuaranteedModel::LoadInner& load_inner) {
  std::unique_ptr<const QuantileModel> inner = load_inner(in);
  if (!in.has_value(kFileColumn)) return inner;
  const std::size_t column = in.count(kFileColumn, kMostFolds);
  const std::size_t folds = in.count(kFileFolds, kMostFolds);
  if (column > folds || inner->given() != 1) {
    fail(ErrorCode::kCorruptFile, "the model file's fold model reads column {} of {}", column,
         folds);
  }
  return std::make_unique<FoldGivenModel>(std::move(inner), column, folds);
}

}  // namespace tare
