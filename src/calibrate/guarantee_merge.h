// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/guarantee_ranks.h"
#include "tare/base/level.h"

namespace tare {

/// A quantile moved by `beyond`; infinity of one sign is never added to the other.
double moved(double quantile, double beyond);

/// Ranks of rows that were each scored by the model of their fold, which has not seen them. One
/// fold is the split form.
class FoldRanks {
 public:
  FoldRanks() = default;
  /// At least one fold.
  explicit FoldRanks(std::vector<GuaranteeRanks> folds);

  std::span<const GuaranteeRanks> folds() const noexcept { return folds_; }
  std::size_t rows() const noexcept { return rows_; }
  Mass mass() const noexcept { return mass_; }
  /// Of all rows: what a new row counts where nothing is known about it.
  Mass largest() const noexcept { return largest_; }
  /// Whether a level has a finite bound for a new row that counts `fresh`.
  bool finite(Level level, Mass fresh) const;

 private:
  std::vector<GuaranteeRanks> folds_;
  std::size_t rows_ = 0;
  Mass mass_ = 0;
  Mass largest_ = 1;
};

/// Answers rows from the quantiles of all folds' models, as CV+ does (Barber, Candes, Ramdas,
/// Tibshirani 2021), on the scale of each model's own distribution: row i, scored at a knot by the
/// model of its fold, gives that model's quantile at this knot for the new row. From 0.5 on a level
/// tau is the ceil((n+1) tau)-th smallest of these n values, below it the floor((n+1) tau)-th of
/// those of the lower scores, or the median's answer where that is less.
class FoldMerge {
 public:
  /// knots[k] are those at which fold k's model will be asked, ascending, all its ranks' among
  /// them.
  FoldMerge(const FoldRanks& ranks, std::span<const std::vector<std::size_t>> knots);

  /// Adds the knots that the ranks of a fold need, as flags.
  static void mark_knots(const GuaranteeRanks& ranks, std::span<std::uint8_t> flag);

  /// quantiles[k] has fold k's for the new row, which counts `fresh`; levels ascend.
  void answer(std::span<const std::span<const double>> quantiles, std::span<const Level> levels,
              Mass fresh, std::span<double> out) const;

 private:
  /// Mass that lies at quantiles of one model, moved, in ascending steps for every row.
  struct Steps {
    std::vector<std::size_t> column;
    std::vector<double> beyond;
    std::vector<Mass> before;  // of all steps before one, and at the end of all

    std::size_t size() const noexcept { return column.size(); }
    void add(std::size_t to_column, double to_beyond, Mass mass);
  };
  struct Fold {
    Steps upper, lower;
  };
  class Walk;
  /// The value at which the mass of all folds reaches each target; targets ascend, from 1 to all.
  void values_at(Steps Fold::*side, std::span<const std::span<const double>> quantiles,
                 std::span<const Mass> targets, std::span<double> out) const;

  std::vector<Fold> folds_;
  Mass mass_ = 0;
};

}  // namespace tare
