// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"

namespace tare {

/// Rows of two classes. Weights are not negative, and each class has a positive one; empty: equal
/// weights.
struct LabelledRows {
  std::span<const std::uint8_t> label;  // 0 or 1
  std::span<const double> weight;
};

/// Standardised columns, clamped to four standard deviations so that no row has a large influence,
/// and, while there are at most kMostTerms, their squares and products: the log-odds of two normal
/// distributions are such a sum, and products find interactions.
class QuadraticTerms {
 public:
  static constexpr std::size_t kMostTerms = 100;

  QuadraticTerms() = default;
  explicit QuadraticTerms(MatrixView x);

  std::size_t features() const noexcept { return center_.size(); }
  /// Terms of a row, each about 0 and of spread 1 over the rows it was made from.
  std::size_t terms() const noexcept { return term_center_.size(); }
  void write(std::span<const double> row, std::span<double> out) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static QuadraticTerms load(const TensorReader& in);

 private:
  std::size_t raw_terms() const;
  void write_raw(std::span<const double> row, std::span<double> out) const;

  std::vector<double> center_, scale_;
  std::vector<double> term_center_, term_scale_;
};

/// Log-odds of class 1 that are linear in some terms: logistic regression with a ridge penalty.
struct LogisticFit {
  double intercept = 0.0;
  std::vector<double> slope;

  double log_odds(std::span<const double> terms) const;
};

/// The penalties to try, strongest first: the first leaves slopes of nearly 0, the last matters
/// only if the classes can be separated without error.
std::span<const double> logistic_penalties();

/// One fit for each penalty: minimises the mean loss plus penalty / 2 times the squared slopes
/// (Newton's method, each fit starts from the previous one). `terms` has a row for each.
std::vector<LogisticFit> fit_logistic(const LabelledRows& rows, MatrixView terms,
                                      std::span<const double> penalties);

}  // namespace tare
