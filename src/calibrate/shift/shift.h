// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "model/linear/logistic.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"

namespace tare {

/// The ratio of two densities, from the odds that logistic regressions give: each was fitted
/// without one fold of the rows.
class Shift {
 public:
  Shift() = default;
  /// odds times `scale` are the ratio.
  Shift(QuadraticTerms terms, std::vector<LogisticFit> fits, double scale);

  std::size_t features() const noexcept { return terms_.features(); }
  const QuadraticTerms& terms() const noexcept { return terms_; }
  std::span<const LogisticFit> fits() const noexcept { return fits_; }

  /// Before anything is cut off; `terms` are those of a row. By one fit, or by the mean of all.
  double ratio_by(std::size_t fit, std::span<const double> terms) const;
  double ratio(std::span<const double> terms) const;

  struct Limits {
    double most = 1.0;            // larger ratios are this
    double unit = 1.0;            // weights are this times a ratio
    double effective_rows = 1.0;  // of the fit, for the record
  };
  void set_limits(const Limits& limits) { limits_ = limits; }
  /// The largest weight of any row.
  double largest() const noexcept { return limits_.unit * limits_.most; }
  double effective_rows() const noexcept { return limits_.effective_rows; }
  /// out[i] is the weight of row i of x, were it in the fit with the largest weight that was given
  /// there: positive and finite, whatever x is.
  void weights(MatrixView x, std::span<double> out, const Execution& how) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static std::shared_ptr<const Shift> load(const TensorReader& in);

 private:
  QuadraticTerms terms_;
  std::vector<LogisticFit> fits_;
  double scale_ = 1.0;
  Limits limits_;
};

}  // namespace tare
