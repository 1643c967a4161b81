// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/automatic/cross_fit/fold_models.h"
#include "io/tensor_store.h"
#include "tare/base/matrix.h"

namespace tare::automatic {

/// A step that adds columns to the statistics of a row.
struct Step {
  enum class Kind : std::uint8_t {
    kModels,     // what fold models answer to x and the inputs
    kBlend,      // sum of numbers[k] times input k
    kLogSpread,  // log(sd of the inputs + numbers[0])
    kLogSd,      // of a mean and a mean square: log of the sd, at least numbers[0]
    kLogWidth,   // log(input 1 - input 0 + numbers[0]), where that is positive, else log numbers[0]
    kGiven,      // (given feature numbers[0] - numbers[1]) * numbers[2]
  };
  Kind kind = Kind::kBlend;
  std::vector<std::size_t> inputs;  // columns of earlier steps
  std::vector<double> numbers;
  FoldModels models;  // of kModels

  std::size_t columns() const { return kind == Kind::kModels ? models.answers() : 1; }
  /// The value of a step that is neither kModels nor kGiven, from the row's columns so far.
  double formula(std::span<const double> row) const;
};

/// Statistics of a row, column by column: predictions of models, their averages, spreads, scales.
/// It is a list of steps, so that a family of candidates takes a few lines of code and unused steps
/// can be removed.
class Statistics {
 public:
  std::size_t columns() const noexcept { return columns_; }
  /// Appends a step and returns its first column.
  std::size_t add(Step step);
  std::span<const Step> steps() const noexcept { return steps_; }

  /// All columns for new rows; `given` are the features of a given law, or has no columns.
  Matrix compute(MatrixView x, MatrixView given, const Execution& how) const;

  /// Appends the steps of other statistics and returns the first of their columns.
  std::size_t append(Statistics other);

  /// Drops the steps that none of `columns` needs and renumbers these.
  void keep_only(std::span<std::size_t> columns);

  void save(const TensorWriter& out) const;
  /// `features` and `given`: columns of x and of the given law. Throws kCorruptFile.
  static Statistics load(const TensorReader& in, std::size_t features, std::size_t given);

 private:
  std::vector<Step> steps_;
  std::vector<std::size_t> first_;  // column of each step
  std::size_t columns_ = 0;
};

/// x with the inputs' columns behind it.
Matrix with_columns(MatrixView x, const Matrix& statistics, std::span<const std::size_t> inputs);

}  // namespace tare::automatic
