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
/// remaining rows, rows that only train, and rows beyond kMostGuaranteeRows train every model and
/// are not ranked. Each group that is large enough for its own ranks is divided separately, so that
/// the bound holds within it. FitInput::fold overrides all of this; folds of unequal size are then
/// kBadData. Throws kBadData if fewer than kRowsForNinety would be ranked.
FoldPlan guarantee_folds(const FitInput& input, const GuaranteeRule& rule, RowOrder order);

/// An upper bound for the probability that a new row, exchangeable with the `rows` ranked rows,
/// misses the bound of one side at level 1 - alpha or alpha: 2 alpha + min(2 (1 - 1/K) / (n/K + 1),
/// (1 - K/n) / (K + 1)), at most 1. Theorem 4 of Barber, Candes, Ramdas, Tibshirani 2021 holds for
/// any score, and therefore for one side.
double cross_miss_bound(std::size_t rows, std::size_t folds, double alpha);

}  // namespace tare
