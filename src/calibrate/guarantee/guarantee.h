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
#include "calibrate/guarantee/guarantee_sets.h"
#include "calibrate/guarantee/merge_windows.h"
#include "calibrate/shift/shift.h"
#include "io/tensor_store.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The levels at which a model is asked for its scores and its guaranteed answers, ascending and
/// mirroring each other: steps of 0.002, of 0.0005 from 0.02 outwards, and six towards 0.000001.
/// Between these levels, scores and answers interpolate a model's quantiles linearly, which costs
/// less than 0.2 % of the CheckScore (GuaranteedModel.TheGridIsFineEnough).
std::span<const Level> guarantee_levels();

/// Where the target of each row lies on the model's curve through these knots; a target at several
/// knots is put at one of them (draw_within_mass), drawn by the seed of the input. `sets`, if
/// given, receives the place of each target in the shortest sets of its row.
std::vector<RowScore> score_rows(const QuantileModel& model, std::span<const Level> knots,
                                 const FitInput& input, const Execution& how,
                                 std::vector<SetPlace>* sets = nullptr);

/// A model whose levels were adjusted on rows that it was not trained on (distributional conformal
/// prediction), so that they hold on average for a finite sample, for any model. Nothing is
/// guaranteed for a single x.
///
/// Split: one model, and rows held out of its training. For rows that are exchangeable with these,
/// P(y <= Q_tau) >= tau from 0.5 on and P(y < Q_tau) <= tau below, over draws of the held-out rows
/// and the new one. A central interval therefore covers at least its share, and at most 2 / (n + 1)
/// more if targets have no ties with each other or with the model's quantiles. Q_tau lies at a
/// position on the curve through the inner model's quantiles at the knots; beyond all knots it is
/// the outermost quantile plus a constant. With SplitLevels::kOwn the model's own levels are used
/// as far as the ranks allow: the same lower bound of the coverage, less sampling error. With kNear
/// they may differ from the ranks by a standard error to either side, and the bound is lower by
/// that (own_levels.h). A shift makes no use of either.
///
/// Cross: a model for each fold of the rows, fitted without it, and all folds' rows ranked together
/// as FoldMerge says. No row is held out of all models. The proven bound for the misses of a side
/// is cross_miss_bound(). If the models of the folds agree, a side keeps its level as split does,
/// and covers a little more if folds have hundreds of rows (GuaranteeRanks::thinned).
///
/// Rows with unequal weights are ranked by weight, as in weighted conformal prediction. A new row
/// has the largest of these weights, or the weight of the shift if there is one.
///
/// If n is too small for a level, only an infinite bound would keep it. The answer then extends the
/// outermost kept bound by the model's own tail (OuterLevels::kOwnTail), or is infinite. Answers
/// are also infinite if the inner model's quantiles are. With groups the same holds within each
/// group of at least kRowsForNinety rows; other groups use the ranks of all rows.
class GuaranteedModel final : public QuantileModel {
 public:
  /// The cost of a split on the held-out rows: the mean pinball loss over the metric levels that
  /// the ranks keep. Infinite if the inner model's quantiles are.
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

  /// Split. `held_out` are rows that the inner model was not trained on. Throws kBadData if there
  /// are none.
  GuaranteedModel(std::unique_ptr<const QuantileModel> inner, const FitInput& held_out,
                  const Execution& how, OuterLevels outer = OuterLevels::kOwnTail,
                  SplitLevels levels = SplitLevels::kRanked);
  /// Cross: `fit` is called for each fold, one after the other.
  static std::unique_ptr<GuaranteedModel> cross(const FitInput& input, const FoldPlan& plan,
                                                const FitRows& fit, const Execution& how,
                                                OuterLevels outer = OuterLevels::kOwnTail);

  std::size_t features() const override { return inner_.front()->features(); }
  std::size_t given() const override { return inner_.front()->given(); }
  GivenForm given_form() const override { return inner_.front()->given_form(); }
  /// By the ranks of each row's group: exact for a split, the proven level for folds. If n is too
  /// small for a level, it is the level of the outermost bound. For a group without its own ranks
  /// nothing is known, so an upper bound has 0 and a lower bound 1. No columns if rows have unequal
  /// weights or are in time order, because nothing is known then. Throws kShapeMismatch if groups
  /// are needed but absent.
  Matrix delivered(const Rows& rows, std::span<const Level> levels) const override;
  bool delivers_levels() const override { return knows_levels(); }
  bool has_guarantee() const override { return true; }
  /// Describes the model of the first fold.
  void describe(Description& description) const override;
  /// The mean over the models of the folds.
  Matrix own_quantiles(const Rows& rows, std::span<const Level> levels,
                       const Execution& how) const override;
  /// Of a split (guarantee_sets.h).
  bool ranked_sets(const Rows& rows, std::span<const Level> coverages, const Execution& how,
                   ShortestSets& sets) const override;
  /// 1: the split form.
  std::size_t folds() const noexcept { return inner_.size(); }
  /// Of a split.
  SplitLevels levels() const noexcept { return levels_; }
  const FoldRanks& overall() const noexcept { return ranks_.front(); }
  /// Of a split.
  const Cost& cost() const noexcept { return cost_; }
  /// For cross: the share of the ranked rows, or of a sample of them, that the 90 % interval
  /// covers. All models except one were trained on each of these rows, so the coverage of new rows
  /// is lower.
  double seen_coverage() const noexcept { return seen_coverage_; }
  /// For cross: whether the bound is proven, which requires random rows of equal weight.
  bool has_bound() const noexcept { return has_bound_; }
  /// Records that the held-out rows of a split are the last of a series, for which no level is
  /// proven.
  void set_in_time_order() noexcept { in_time_order_ = true; }
  /// Records FitInput::rows_depend, for which no level is proven either.
  void set_rows_depend(bool depend) noexcept { rows_depend_ = depend; }
  /// The weight of new rows among the ranked rows: by the shift for each row if there is one,
  /// otherwise the largest weight.
  Mass most_fresh(const FoldRanks& line) const;
  /// The density ratio of the rows to predict, or none.
  const Shift* shift() const noexcept { return shift_.get(); }
  /// Groups at fit, and the ranked rows of each; empty without groups.
  std::span<const std::int32_t> group_rows() const noexcept { return group_rows_; }
  /// Whether a group has its own ranks.
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
  /// Scores of the rows that a fold's model was not trained on, and their groups.
  struct FoldScores {
    std::vector<RowScore> scores;
    std::vector<std::uint32_t> group;
    std::vector<SetPlace> sets = {};  // of a split
  };

  /// The knots at which the models of the folds are evaluated, and how the ranks use them.
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
  void rank_sets(const FoldScores& fold);
  void add_group(std::span<const std::vector<RowScore>> folds);
  /// Evaluates the models at the knots that the ranks need, and at flagged knots.
  Asked make_asked(std::span<const std::uint8_t> flagged) const;
  std::span<const Level> knots_of_tails() const;
  /// Which lines the rows need.
  std::vector<std::uint8_t> ranks_in_use(const Rows& rows) const;
  /// Flags the knots that levels beyond the ranks need. Returns whether there are any.
  bool mark_tails(const Rows& rows, std::span<const Level> levels,
                  std::span<std::uint8_t> flag) const;
  /// Throws kShapeMismatch if the guarantee holds within groups and the rows have none.
  void check_groups(const Rows& rows) const;
  bool knows_levels() const;
  /// Whether the ranked rows are enough for both ends of a central interval.
  bool keeps_interval(double confidence) const;
  bool is_infinite(double confidence) const;
  /// The average coverage of a central interval, for one model or for several that agree.
  double average_coverage(double confidence) const;
  /// Where delivers_levels().
  double proven_coverage(double confidence) const;
  double delivered_by(const FoldRanks& line, Level level) const;
  bool all_keep(Level level) const;
  Cost measure(const FitInput& held_out, const Execution& how) const;
  double measure_coverage(const FitInput& input, const FoldPlan& plan, const Execution& how) const;
  /// The targets of the levels where few steps of the folds give the answers (MergeWindows): a few
  /// levels, kept by the ranks of all rows, of models that answer each level alone. Else none.
  std::vector<MergeWindows::Target> few_targets(const Rows& rows,
                                                std::span<const Level> levels) const;
  Prediction predict_few(const Rows& rows, std::span<const MergeWindows::Target> targets,
                         std::span<const Level> levels, const Execution& how) const;
  Prediction predict_all_steps(const Rows& rows, std::span<const Level> levels,
                               const Execution& how) const;
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
  bool rows_depend_ = false;            // FitInput::rows_depend
  std::shared_ptr<const Shift> shift_;  // none: not known how new rows differ
  MassScale scale_;
  SetRanks set_ranks_;  // of a split; none: of folds, or of an older file
  OuterLevels outer_;
  SplitLevels levels_ = SplitLevels::kRanked;
  Asked asked_;  // made from the above, for merging
};

}  // namespace tare
