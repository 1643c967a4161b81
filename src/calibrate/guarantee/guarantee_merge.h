// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "tare/base/level.h"

namespace tare {

/// Ranks of rows, each scored by the model of its fold, which was not trained on it. One fold is
/// the split form.
class FoldRanks {
 public:
  FoldRanks() = default;
  /// At least one fold.
  explicit FoldRanks(std::vector<GuaranteeRanks> folds);

  std::span<const GuaranteeRanks> folds() const noexcept { return folds_; }
  std::size_t rows() const noexcept { return rows_; }
  Mass mass() const noexcept { return mass_; }
  /// Of all rows: the weight of a new row without a shift.
  Mass largest() const noexcept { return largest_; }
  /// Whether some bound has a level for a new row that counts `fresh`.
  bool keeps(Level level, Mass fresh) const { return can_keep(level, mass_, fresh); }

 private:
  std::vector<GuaranteeRanks> folds_;
  std::size_t rows_ = 0;
  Mass mass_ = 0;
  Mass largest_ = 1;
};

/// Answers rows from the quantiles of all folds' models, as CV+ does (Barber, Candes, Ramdas,
/// Tibshirani 2021), on the scale of each model's own distribution: row i, scored at a place by the
/// model of its fold, gives that model's value at this place for the new row. From 0.5 on a level
/// tau is the ceil((n+1) tau)-th smallest of these n values, below it the floor((n+1) tau)-th of
/// those of the lower scores, or the median's answer where that is less. If n is too small for a
/// level, the outermost value is extended by the mean of the tails of the folds' models.
class FoldMerge {
 public:
  /// asked[k] are the knots at which the model of fold k is evaluated, ascending; they include all
  /// that its ranks need. `knots` are the levels of all knots, kept by reference. If there are
  /// none, answers are infinite if n is too small.
  FoldMerge(const FoldRanks& ranks, std::span<const std::vector<std::size_t>> asked,
            std::span<const Level> knots = {});

  /// Adds the knots that the value at a place needs, as flags.
  static void mark_knots(const CurvePlace& place, std::span<std::uint8_t> flag);
  /// Adds the knots that the ranks of a fold need.
  static void mark_knots(const GuaranteeRanks& ranks, std::span<std::uint8_t> flag);

  /// quantiles[k] has fold k's for the new row, which counts `fresh`; levels ascend. For levels
  /// that are not kept, `quantiles` must include the knots of own_tail().
  void answer(std::span<const std::span<const double>> quantiles, std::span<const Level> levels,
              Mass fresh, std::span<double> out) const;

  /// Whether an answer below 0.5 can lie above the median's. It cannot where, in every fold, the
  /// lower score of each rank is at most the upper one: as scores of rows are, but the file of a
  /// model may say something else.
  bool caps_at_median() const noexcept { return caps_at_median_; }

 private:
  /// Mass that lies at places on one model's curve, in ascending steps for every row.
  struct Steps {
    std::vector<std::uint32_t> column;  // of the place's knot; the next column is the next knot
    std::vector<double> share, beyond;  // of the place
    std::vector<Mass> before;           // of all steps before one, and at the end of all

    std::size_t size() const noexcept { return column.size(); }
    double value(const double* quantiles, std::size_t step) const;
  };
  struct Fold {
    Steps upper, lower;
    std::vector<std::uint32_t> column;  // of each knot that is asked
  };
  class Walk;
  static Steps steps_of(const ScoreSteps& scores, std::span<const std::uint32_t> column);
  /// The value at which the mass of all folds reaches each target; targets ascend, from 1 to all.
  void values_at(Steps Fold::*side, std::span<const std::span<const double>> quantiles,
                 std::span<const Mass> targets, std::span<double> out) const;
  /// From the outermost value on.
  double beyond_ranks(double outermost, std::span<const std::span<const double>> quantiles,
                      Level level, Mass fresh) const;

  std::vector<Fold> folds_;
  Mass mass_ = 0;
  bool caps_at_median_ = false;
  std::span<const Level> knots_;
};

}  // namespace tare
