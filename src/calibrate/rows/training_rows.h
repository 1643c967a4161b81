// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/quantile_model.h"
#include "tare/model/regressor.h"

namespace tare {

/// The columns of x that a model reads, where it does not read all.
class ModelColumns {
 public:
  ModelColumns() = default;  // all
  explicit ModelColumns(std::vector<std::size_t> columns) : columns_(std::move(columns)) {}

  /// None: all.
  std::span<const std::size_t> columns() const noexcept { return columns_; }
  /// These columns of x; `storage` holds them where they are not all.
  MatrixView select(MatrixView x, Matrix& storage) const;
  std::size_t width(std::size_t inputs) const {
    return columns_.empty() ? inputs : columns_.size();
  }

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile where a column is not one of `inputs`.
  static ModelColumns load(const TensorReader& in, std::size_t inputs);

 private:
  std::vector<std::size_t> columns_;
};

/// Some rows of a FitInput as a model learns from them: its columns only, without rows of zero
/// weight, so that models need not handle them.
struct TrainingRows {
  /// Throws kBadData where no row is left.
  TrainingRows(const FitInput& input, std::span<const std::size_t> rows);
  RegressionData data() const { return {x, y, weight}; }

  Matrix x;
  std::vector<double> y;
  std::vector<double> weight;
};

}  // namespace tare
