// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "calibrate/guarantee_ranks.h"
#include "io/tensor_store.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The levels at which a model is asked for its scores and its guaranteed answers, ascending and
/// mirroring each other: steps of 0.002, of 0.0005 from 0.02 outwards, and six towards 0.000001. An
/// adjusted level is rounded outwards to the next of these, which costs less than 0.2 % of the
/// CheckScore (GuaranteedModel.TheGridIsFineEnough).
std::span<const Level> guarantee_levels();

/// A model whose levels were adjusted on held-out rows (distributional conformal prediction), so
/// that they hold on average for a finite sample, whatever the model: for rows that are
/// exchangeable with those held out, P(y <= Q_tau) >= tau from 0.5 on and P(y < Q_tau) <= tau
/// below, over draws of the held-out rows and the new one. A central interval so covers at least
/// its share, and by at most 2 / (n + 1) more where scores do not tie. Nothing is said about a
/// single x.
///
/// Q_tau is the inner model's quantile at a knot of guarantee_levels(); for rows outside all knots
/// the outermost one, moved by a constant. It is infinite where n is too small for the level, and
/// where the inner model's own quantile is, and for no other reason. With groups the same holds
/// within each group of at least kRowsForNinety rows; others are answered by the ranks of all rows.
class GuaranteedModel final : public QuantileModel {
 public:
  /// What it cost, on the held-out rows: the mean pinball loss over the metric levels whose ranks
  /// are finite. Infinite where the inner model is.
  struct Cost {
    double without = 0.0;    // of the model as it was
    double with = 0.0;       // of the adjusted levels
    std::size_t levels = 0;  // that are finite, of 100
  };

  /// `held_out` are rows the inner model has not seen. Throws kBadData where there are none.
  GuaranteedModel(std::unique_ptr<const QuantileModel> inner, const FitInput& held_out,
                  const Execution& how);

  std::size_t features() const override { return inner_->features(); }
  std::size_t given() const override { return inner_->given(); }
  GivenForm given_form() const override { return inner_->given_form(); }
  /// By the ranks of each row's group. Throws kShapeMismatch where groups are needed and not there.
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override;
  const GuaranteeRanks& overall() const noexcept { return ranks_.front(); }
  const Cost& cost() const noexcept { return cost_; }
  /// Groups at fit, and the held-out rows of each; empty without groups.
  std::span<const std::int32_t> group_rows() const noexcept { return group_rows_; }
  /// Whether a group has ranks of its own.
  bool has_ranks(std::uint32_t group) const noexcept { return ranks_of(group) > 0; }

  void save(const TensorWriter& out) const override;
  /// `inner` is what the method's load function gave. Throws kCorruptFile.
  static std::unique_ptr<GuaranteedModel> load(const TensorReader& in,
                                               std::unique_ptr<const QuantileModel> inner);
  /// Whether a file's model part has one.
  static bool is_in(const TensorReader& in) { return in.has_value("guarantee.form"); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  GuaranteedModel() = default;
  std::size_t ranks_of(std::uint32_t group) const noexcept {
    return group < group_ranks_.size() ? static_cast<std::size_t>(group_ranks_[group]) : 0;
  }
  /// Throws kShapeMismatch where the guarantee holds within groups and the rows have none.
  void check_groups(const Rows& rows) const;
  void set_groups(std::span<const std::uint32_t> group, std::span<const RowScore> scores);
  bool all_finite(Level level) const;
  Cost measure(const FitInput& held_out, const Execution& how) const;

  std::unique_ptr<const QuantileModel> inner_;
  std::vector<Level> knots_;
  std::vector<GuaranteeRanks> ranks_;      // of all rows, then of the groups that are large enough
  std::vector<std::int32_t> group_rows_;   // held-out rows of each group
  std::vector<std::int32_t> group_ranks_;  // place in ranks_ of each group; 0: those of all rows
  Cost cost_;
};

}  // namespace tare
