// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "calibrate/guarantee/guarantee_folds.h"
#include "calibrate/guarantee/guarantee_merge.h"
#include "calibrate/shift/shift.h"
#include "io/tensor_store.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The levels at which a model is asked for its scores and its guaranteed answers, ascending and
/// mirroring each other: steps of 0.002, of 0.0005 from 0.02 outwards, and six towards 0.000001.
/// Between these a model's quantiles are taken to lie on straight lines, for scores and answers
/// alike, which costs less than 0.2 % of the CheckScore (GuaranteedModel.TheGridIsFineEnough).
std::span<const Level> guarantee_levels();

/// A model whose levels were adjusted on rows it has not seen (distributional conformal
/// prediction), so that they hold on average for a finite sample, whatever the model. Nothing is
/// said about a single x.
///
/// Split: one model, and rows held out of it. For rows that are exchangeable with these, P(y <=
/// Q_tau) >= tau from 0.5 on and P(y < Q_tau) <= tau below, over draws of the held-out rows and the
/// new one. A central interval so covers at least its share, and by at most 2 / (n + 1) more where
/// targets do not tie with each other or the model's quantiles. Q_tau lies at a place on the curve
/// through the inner model's quantiles at the knots; for rows outside all knots at the outermost
/// one, moved by a constant.
///
/// Cross: a model for each fold of the rows, fitted without it, and all folds' rows ranked together
/// as FoldMerge says. Nothing is held out of all models. A side is proven to miss at most
/// cross_miss_bound(); where the folds' models agree it keeps its level as split does, and covers a
/// little more where folds have hundreds of rows (GuaranteeRanks::thinned).
///
/// Rows that count differently are ranked by their weight, as weighted conformal prediction does. A
/// new row counts as the largest of them, or, where the weights come from a shift, as the shift
/// says.
///
/// Where n is too small for a level, so that only infinity would keep it, the answer goes on from
/// the outermost bound that is kept as the model's own quantiles do (OuterLevels::kOwnTail), or is
/// infinite. Answers are also infinite where the inner model's own quantiles are. With groups the
/// same holds within each group of at least kRowsForNinety rows; others are answered by the ranks
/// of all rows.
class GuaranteedModel final : public QuantileModel {
 public:
  /// What a split cost, on the held-out rows: the mean pinball loss over the metric levels that the
  /// ranks keep. Infinite where the inner model is.
  struct Cost {
    double without = 0.0;    // of the model as it was
    double with = 0.0;       // of the adjusted levels
    std::size_t levels = 0;  // that are kept, of 100
  };
  /// Fits the method on some rows.
  using FitRows =
      std::function<std::unique_ptr<const QuantileModel>(const FitInput&, const Execution&)>;
  /// The method's load function.
  using LoadInner = std::function<std::unique_ptr<const QuantileModel>(const TensorReader&)>;

  /// Split. `held_out` are rows the inner model has not seen. Throws kBadData where there are none.
  GuaranteedModel(std::unique_ptr<const QuantileModel> inner, const FitInput& held_out,
                  const Execution& how, OuterLevels outer = OuterLevels::kOwnTail);
  /// Cross: `fit` is called for each fold, one after the other.
  static std::unique_ptr<GuaranteedModel> cross(const FitInput& input, const FoldPlan& plan,
                                                const FitRows& fit, const Execution& how,
                                                OuterLevels outer = OuterLevels::kOwnTail);

  std::size_t features() const override { return inner_.front()->features(); }
  std::size_t given() const override { return inner_.front()->given(); }
  GivenForm given_form() const override { return inner_.front()->given_form(); }
  /// By the ranks of each row's group: exactly for a split, what is proven for folds. A level that
  /// n is too small for has what the outermost bound is known to keep. For a group without ranks of
  /// its own nothing is known, so that an upper bound has 0 and a lower one 1. No columns where
  /// rows count differently or come in time order, as nothing is known then. Throws kShapeMismatch
  /// where groups are needed and not there.
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override;
  bool delivers_levels() const override { return knows_levels(); }
  bool has_guarantee() const override { return true; }
  /// The first fold's model speaks for all.
  void describe(Description& description) const override;
  /// The mean over the folds' models.
  Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                       const Execution& how) const override;
  /// 1: the split form.
  std::size_t folds() const noexcept { return inner_.size(); }
  const FoldRanks& overall() const noexcept { return ranks_.front(); }
  /// Of a split.
  const Cost& cost() const noexcept { return cost_; }
  /// Of cross: the share of the ranked rows, or of some of them, that the 90 % interval covers.
  /// These rows are in all models but one each, so that it is more than new rows may expect.
  double seen_coverage() const noexcept { return seen_coverage_; }
  /// Of cross: whether the bound is proven, for rows drawn at random that count alike.
  bool has_bound() const noexcept { return has_bound_; }
  /// Says that the held-out rows of a split are the last of a series, for which no level is proven.
  void set_in_time_order() noexcept { in_time_order_ = true; }
  /// What a new row counts at most among a line's rows: where a shift is known each row is asked,
  /// otherwise it is taken to count as much as the largest.
  Mass most_fresh(const FoldRanks& line) const;
  /// The weights towards the rows to be predicted, or none.
  const Shift* shift() const noexcept { return shift_.get(); }
  /// Groups at fit, and the ranked rows of each; empty without groups.
  std::span<const std::int32_t> group_rows() const noexcept { return group_rows_; }
  /// Whether a group has ranks of its own.
  bool has_ranks(std::uint32_t group) const noexcept { return line_of(group) > 0; }

  void save(const TensorWriter& out) const override;
  /// Throws kCorruptFile.
  static std::unique_ptr<GuaranteedModel> load(const TensorReader& in, const LoadInner& load_inner);
  /// Whether a file's model part has one.
  static bool is_in(const TensorReader& in) { return in.has_value("guarantee.form"); }

 protected:
  Prediction predict_ascending(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const override;

 private:
  /// Scores of the rows that a fold's model has not seen, and their groups.
  struct FoldScores {
    std::vector<RowScore> scores;
    std::vector<std::uint32_t> group;
  };

  /// At which knots the folds' models are asked, and how the lines are answered from these.
  struct Asked {
    std::vector<std::vector<Level>> levels;  // of each fold's model
    std::vector<FoldMerge> merges;           // of each line
    std::size_t columns = 0;                 // of all folds
  };

  explicit GuaranteedModel(OuterLevels outer);
  std::size_t line_of(std::uint32_t group) const noexcept {
    return group < group_ranks_.size() ? static_cast<std::size_t>(group_ranks_[group]) : 0;
  }
  std::size_t ranks_of_row(const Rows& rows, std::size_t i) const {
    return rows.group.empty() ? 0 : line_of(rows.group[i]);
  }
  void set_lines(std::span<const FoldScores> folds);
  void add_group(std::span<const std::vector<RowScore>> folds);
  /// Asks at the knots that the ranks need, and at those that are flagged.
  Asked make_asked(std::span<const std::uint8_t> flagged) const;
  std::span<const Level> knots_of_tails() const;
  /// Which lines the rows need.
  std::vector<std::uint8_t> ranks_in_use(const Rows& rows) const;
  /// Flags the knots that levels beyond the ranks need; whether there are any.
  bool mark_tails(const Rows& rows, std::span<const Level> levels,
                  std::span<std::uint8_t> flag) const;
  /// Throws kShapeMismatch where the guarantee holds within groups and the rows have none.
  void check_groups(const Rows& rows) const;
  bool knows_levels() const;
  /// Whether the ranked rows are enough for both ends of a central interval.
  bool keeps_interval(double confidence) const;
  bool is_infinite(double confidence) const;
  /// What a central interval covers on average, of one model or of several that agree.
  double average_coverage(double confidence) const;
  /// Where delivers_levels().
  double proven_coverage(double confidence) const;
  double delivered_by(const FoldRanks& line, Level level) const;
  bool all_keep(Level level) const;
  Cost measure(const FitInput& held_out, const Execution& how) const;
  double measure_coverage(const FitInput& input, const FoldPlan& plan, const Execution& how) const;
  Prediction predict_places(const Rows& rows, std::span<const Level> levels,
                            const Execution& how) const;
  void predict_block(const Rows& rows, std::span<const Level> levels, const Asked& asked,
                     const Execution& how, Prediction& result) const;

  std::vector<std::unique_ptr<const QuantileModel>> inner_;  // of each fold
  std::vector<Level> knots_;
  std::vector<FoldRanks> ranks_;           // of all rows, then of the groups that are large enough
  std::vector<std::int32_t> group_rows_;   // ranked rows of each group
  std::vector<std::int32_t> group_ranks_;  // place in ranks_ of each group; 0: that of all rows
  Cost cost_;
  double seen_coverage_ = 0.0;
  bool has_bound_ = false;
  bool in_time_order_ = false;          // of a split
  std::shared_ptr<const Shift> shift_;  // none: not known how new rows differ
  MassScale scale_;
  OuterLevels outer_;
  Asked asked_;  // made from the above, for merging
};

}  // namespace tare
