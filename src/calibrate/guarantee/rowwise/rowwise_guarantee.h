// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "calibrate/answers/model_around.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "calibrate/guarantee/row_rule.h"

namespace tare {

/// A model with a guarantee whose ranks differ from row to row (RowRule): local or conditional.
///
/// If the held-out rows do not permit a level at a row, the answer is the wider one of the rule's
/// outermost bound and the answer of a split on all held-out rows; or infinite
/// (OuterLevels::kInfinite).
class RowwiseGuarantee final : public ModelAround {
 public:
  struct Parts {
    std::unique_ptr<const QuantileModel> inner;
    std::unique_ptr<const RowRule> rule;
    GuaranteeRanks overall;  // of all rows that the rule ranks
    OuterLevels outer = OuterLevels::kOwnTail;
    bool rows_depend = false;  // FitInput::rows_depend
  };
  explicit RowwiseGuarantee(Parts parts);

  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override;
  bool delivers_levels() const override { return parts_.rule->is_proven() && !parts_.rows_depend; }
  bool delivers_by_row() const override { return true; }
  bool has_guarantee() const override { return true; }
  void describe(Description& description) const override;
  Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                       const Execution& how) const override;
  const RowRule& rule() const noexcept { return *parts_.rule; }

  void save(const TensorWriter& out) const override;
  /// Throws kCorruptFile.
  static std::unique_ptr<RowwiseGuarantee> load(const TensorReader& in,
                                                const GuaranteedModel::LoadInner& load_inner);
  /// Whether a file's model part has one.
  static bool is_in(const TensorReader& in) { return in.has_value("rowwise.form"); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  /// How a level is answered where the rule does not keep it.
  struct Spare {
    CurvePlace place;
    OwnTail tail;
    bool has_tail = false;
  };

  Spare spare_of(Level level) const;
  Prediction predict_block(const Rows& rows, std::span<const Level> levels,
                           std::span<const Spare> spare, const Execution& how) const;
  double value_of(std::span<const double> own, const RowBound& bound, const Spare& spare,
                  bool upper) const;

  Parts parts_;
  std::span<const Level> knots_;
};

/// Puts the answers of a row in order by widening: upper bounds upwards, lower ones downwards.
void widen_to_order(std::span<const Level> levels, std::span<double> answers);

}  // namespace tare
