// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"
#include "tare/data/given_form.h"

namespace tare {

/// What an outside model says about one row, as a line with knots from residuals u to targets y. It
/// rises wherever it has no step, and its ends go on for ever, so that every y has a residual and
/// every residual a y. Quantiles commute with a map that rises: the quantile of y is the line at
/// the quantile of u.
///
/// A point prediction f is y = f + u; a mean and an sd are y = mean + sd u. Quantiles are knots at
/// the logit of their level. On that scale the middle of a normal law is nearly straight, and a
/// straight end is an exponential tail; and no y is so far out that its level rounds to 0 or 1.
class RowLaw {
 public:
  double residual(double y) const;
  double answer(double u) const;
  double center() const { return answer(0.0); }
  /// By how much y moves with u, on average over the row; above 0.
  double unit() const noexcept { return unit_; }

 private:
  friend class GivenLaw;
  std::vector<double> u_;  // knots, ascending
  std::vector<double> y_;  // their values, which never fall
  double below_ = 1.0;     // slopes beyond the first knot and beyond the last
  double above_ = 1.0;
  double unit_ = 1.0;
};

/// How the given columns of a row become its law; saved with the model.
///
/// Quantiles of a row that cross are sorted. Each end goes on with the slope of its outermost pair
/// of quantiles. Where that is below a hundredth of the row's mean slope, that is taken, and where
/// all of a row's quantiles are equal, a thousandth of what is usual among the rows of the fit. A y
/// at which several quantiles lie has the residual in the middle of theirs.
class GivenLaw {
 public:
  /// A point prediction.
  GivenLaw() = default;
  /// Learns what spread is usual. Throws as check does, and kInvalidArgument for levels that are
  /// too few, outside (0, 1) or do not ascend.
  static GivenLaw fit(const GivenForm& form, MatrixView given);

  const GivenForm& form() const noexcept { return form_; }
  /// Throws kShapeMismatch for another number of columns, kBadData, naming the row and the column,
  /// for a value that cannot be used. A point prediction is taken as it is.
  void check(MatrixView given) const;
  /// The law of one row that has been checked. `out` is reused from row to row.
  void read(std::span<const double> row, RowLaw& out) const;

  /// Residuals of y, and their units in y. Throws kBadData for a residual that is not finite.
  struct Residuals {
    std::vector<double> u;
    std::vector<double> unit;
  };
  Residuals residuals(MatrixView given, std::span<const double> y) const;

  /// What the kernel may see of the input: its center, and but for a point the log of its spread.
  std::size_t feature_count() const { return form_.kind == GivenKind::kPoint ? 1 : 2; }
  void features(std::span<const double> row, std::span<double> out) const;

  void save(const TensorWriter& out) const;
  static GivenLaw load(const TensorReader& in);

 private:
  void set_levels();
  void read_quantiles(std::span<const double> row, RowLaw& out) const;

  GivenForm form_;
  std::vector<double> knots_;  // logits of the levels
  double least_slope_ = 0.0;   // of a row whose quantiles are all equal
};

}  // namespace tare
