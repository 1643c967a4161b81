// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/cross_fit/cross_fit.h"

#include <algorithm>
#include <utility>

namespace tare::automatic {

Matrix CrossFit::columns(std::span<const std::size_t> chosen) const {
  Matrix side_by_side(rows_.x.rows(), chosen.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    for (std::size_t i = 0; i < side_by_side.rows(); ++i)
      side_by_side(i, k) = columns_[chosen[k]][i];
  }
  return side_by_side;
}

Matrix CrossFit::x_and(std::span<const std::size_t> chosen) const {
  Matrix joined(rows_.x.rows(), rows_.x.cols() + chosen.size());
  for (std::size_t i = 0; i < joined.rows(); ++i) {
    const auto row = joined.row(i);
    std::ranges::copy(rows_.x.row(i), row.begin());
    for (std::size_t k = 0; k < chosen.size(); ++k)
      row[rows_.x.cols() + k] = columns_[chosen[k]][i];
  }
  return joined;
}

std::size_t CrossFit::add_models(FoldModels models, const Folds& folds,
                                 std::vector<std::size_t> inputs, const Execution& how) {
  const Matrix answers = models.out_of_fold(x_and(inputs), folds, how);
  for (std::size_t k = 0; k < answers.cols(); ++k) {
    std::vector<double>& column = columns_.emplace_back(answers.rows());
    for (std::size_t i = 0; i < answers.rows(); ++i) column[i] = answers(i, k);
  }
  return program_.add({Step::Kind::kModels, std::move(inputs), {}, std::move(models)});
}

std::size_t CrossFit::add_models_of_all(FoldModels models, std::vector<std::size_t> inputs,
                                        std::vector<double> unseen) {
  columns_.push_back(std::move(unseen));
  return program_.add({Step::Kind::kModels, std::move(inputs), {}, std::move(models)});
}

std::size_t CrossFit::add_formula(Step::Kind kind, std::vector<std::size_t> inputs,
                                  std::vector<double> numbers) {
  Step step{kind, std::move(inputs), std::move(numbers), {}};
  std::vector<double> row(columns_.size());
  std::vector<double> column(rows_.x.rows());
  for (std::size_t i = 0; i < column.size(); ++i) {
    for (const std::size_t j : step.inputs) row[j] = columns_[j][i];
    column[i] = step.formula(row);
  }
  columns_.push_back(std::move(column));
  return program_.add(std::move(step));
}

std::size_t CrossFit::add_given(MatrixView given, std::size_t feature, double shift,
                                double factor) {
  std::vector<double> column(given.rows());
  for (std::size_t i = 0; i < column.size(); ++i) column[i] = (given(i, feature) - shift) * factor;
  columns_.push_back(std::move(column));
  return program_.add({Step::Kind::kGiven, {}, {static_cast<double>(feature), shift, factor}, {}});
}

}  // namespace tare::automatic
