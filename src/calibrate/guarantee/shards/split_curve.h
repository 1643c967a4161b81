// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/guarantee/ranks/guarantee_ranks.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/base/rng.h"

namespace tare {

/// Scores of held-out rows from their quantiles at the knots (guarantee_levels), for a model that
/// lies on several machines. A target at several knots is put at one of them by the seed and
/// `first` + the row's number, so that rows may be scored anywhere.
std::vector<RowScore> score_quantiles(MatrixView quantiles, std::span<const double> y, Seed seed,
                                      std::uint64_t first);

/// The answers of the split guarantee to some levels, from a model's own quantiles: those of a
/// GuaranteedModel with the same scores of rows of equal weight.
class SplitCurve {
 public:
  /// Throws kBadData without scores.
  SplitCurve(std::span<const RowScore> scores, std::span<const Level> levels);

  /// Levels at which the model is asked, ascending.
  std::span<const Level> asked() const noexcept { return asked_; }
  /// own(i, j): quantile j of asked() of row i.
  Matrix answer(MatrixView own) const;

 private:
  struct Answer {
    CurvePlace place;
    OwnTail tail;
    bool is_kept = true;
    bool upwards = true;
  };
  std::vector<Level> asked_;
  std::vector<Answer> answers_;
};

}  // namespace tare
