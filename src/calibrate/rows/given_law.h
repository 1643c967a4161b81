// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/matrix.h"
#include "tare/data/given_form.h"

namespace tare {

/// The given distribution of one row, as an increasing piecewise linear map from residuals u to
/// targets y. It may have steps, and it extends to infinity, so that every y has a residual and
/// every residual a y. Quantiles commute with increasing maps: the quantile of y is the map at the
/// quantile of u.
///
/// A point prediction f is y = f + u; a mean and an sd are y = mean + sd u. Quantiles are knots at
/// the logit of their level. On that scale the middle of a normal distribution is nearly linear,
/// and a linear end is an exponential tail. No y is so extreme that its level rounds to 0 or 1.
class RowLaw {
 public:
  double residual(double y) const;
  double answer(double u) const;
  double center() const { return answer(0.0); }
  /// The mean slope of y in u over the row; above 0.
  double unit() const noexcept { return unit_; }

 private:
  friend class GivenLaw;
  std::vector<double> u_;  // knots, ascending
  std::vector<double> y_;  // their values, which never fall
  double below_ = 1.0;     // slopes beyond the first knot and beyond the last
  double above_ = 1.0;
  double unit_ = 1.0;
};

/// How the given columns of a row become its distribution; saved with the model.
///
/// Quantiles of a row that cross are sorted. Each end has the slope of its outermost pair of
/// quantiles, but at least a hundredth of the row's mean slope. If all quantiles of a row are
/// equal, the slope is a thousandth of the usual slope among the rows of the fit. A y at which
/// several quantiles lie has the residual in the middle of theirs.
class GivenLaw {
 public:
  /// A point prediction.
  GivenLaw() = default;
  /// Learns the usual spread. Throws as check does, and kInvalidArgument for levels that are too
  /// few, outside (0, 1) or not ascending.
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

  /// The features of the input for the kernel: its center and, except for a point prediction, the
  /// log of its spread.
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
