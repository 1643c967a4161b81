// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "calibrate/guarantee/ranks/guarantee_curve.h"
#include "io/tensor_store.h"
#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

struct GuaranteeDescription;

/// The bound of a level at one row: an upper one from level 0.5 on, else a lower one.
struct RowBound {
  /// On the row's curve. If the level is not kept: the outermost bound that the rule has, or
  /// innermost() if it has none.
  CurvePlace place;
  bool kept = false;       // whether the ranks have a finite bound of this level for the row
  double delivered = 0.0;  // the level that is proven, as in QuantileModel::delivered

  /// A place inside of all others: no bound at all.
  static CurvePlace innermost(bool upper) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    return {0.0, upper ? -kFar : kFar};
  }
};

/// How held-out rows bound a new row, where that differs from row to row. Immutable; may be used
/// from several threads at once.
class RowRule {
 public:
  virtual ~RowRule() = default;

  /// For row i and levels[j] the bound i * levels.size() + j. `inner` is the model whose curves the
  /// held-out rows were scored on.
  virtual void bounds(const Rows& rows, const QuantileModel& inner, std::span<const Level> levels,
                      const Execution& how, std::span<RowBound> result) const = 0;
  /// Throws kShapeMismatch if the rule needs groups that the rows do not have.
  virtual void check(const Rows& /*rows*/) const {}
  /// Whether RowBound::delivered is proven for exchangeable rows.
  virtual bool is_proven() const = 0;
  virtual void describe(GuaranteeDescription& description) const = 0;
  /// The value "form" and all that the rule's load function reads.
  virtual void save(const TensorWriter& out) const = 0;
};

}  // namespace tare
