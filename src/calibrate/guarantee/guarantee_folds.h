// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/guarantee/guarantee_split.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The fold of each row that is ranked; others, marked by the number of folds, train every model.
struct FoldPlan {
  std::vector<std::size_t> fold_of_row;
  std::size_t folds = 0;
  RowOrder order = RowOrder::kNone;
};

/// Folds of equal size, as the bound wants them: drawn at random, or stretches of time. The few
/// rows left over train every model and rank none, as do those that do not stand for rows to come,
/// and what is beyond kMostGuaranteeRows. Each group that is large enough for ranks of its own is
/// divided by itself, so that the bound holds within it. FitInput::fold outranks all of this, and
/// folds that differ in size are then kBadData. Throws kBadData where fewer than
/// kRowsForNinety would be ranked.
FoldPlan guarantee_folds(const FitInput& input, const GuaranteeRule& rule, RowOrder order);

/// An upper limit for how often a new row that is exchangeable with the `rows` ranked ones misses
/// its side's bound at level 1 - alpha or alpha: 2 alpha + min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) /
/// (K + 1)), at most 1. Theorem 4 of Barber, Candes, Ramdas, Tibshirani 2021 holds for any score,
/// so for one side.
double cross_miss_bound(std::size_t rows, std::size_t folds, double alpha);

}  // namespace tare
