// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/automatic/cross_fit/statistics.h"
#include "tare/model/regressor.h"

namespace tare::automatic {

/// The statistics during the fit: the list of steps, and the out-of-fold value of each column for
/// the rows of the fit.
class CrossFit {
 public:
  /// `rows` and `folds` must outlive it. Weights of rows are positive or absent.
  CrossFit(const RegressionData& rows, const Folds& folds) : rows_(rows), folds_(folds) {}

  const RegressionData& rows() const noexcept { return rows_; }
  const Folds& folds() const noexcept { return folds_; }
  std::span<const double> column(std::size_t j) const { return columns_[j]; }
  /// Chosen columns side by side.
  Matrix columns(std::span<const std::size_t> chosen) const;
  /// x with chosen columns behind it.
  Matrix x_and(std::span<const std::size_t> chosen) const;

  /// Adds models that see x and `inputs` and left out the rows of `folds`. Returns the first
  /// column.
  std::size_t add_models(FoldModels models, const Folds& folds, std::vector<std::size_t> inputs,
                         const Execution& how);
  /// Adds models of all rows that see x and `inputs`; `unseen` is what models of their kind say
  /// about each row that they have not seen.
  std::size_t add_models_of_all(FoldModels models, std::vector<std::size_t> inputs,
                                std::vector<double> unseen);
  std::size_t add_formula(Step::Kind kind, std::vector<std::size_t> inputs,
                          std::vector<double> numbers);
  /// Adds a feature of the given law: (its column `feature` - shift) * factor.
  std::size_t add_given(MatrixView given, std::size_t feature, double shift, double factor);

  /// The program, once all is in it.
  Statistics take_program() { return std::move(program_); }

 private:
  const RegressionData& rows_;
  const Folds& folds_;
  Statistics program_;
  std::vector<std::vector<double>> columns_;
};

}  // namespace tare::automatic
