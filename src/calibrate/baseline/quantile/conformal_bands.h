// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace tare {

/// The levels at which a quantile learner is asked, ascending: 0.001, the multiples of 0.005, the
/// paper's 100 levels, 0.999. They mirror each other around the one in the middle, 0.5. Answers at
/// all levels come from these, so that an answer does not depend on the other requested levels, and
/// the conformal step can be done at fit.
std::span<const Level> knot_levels();

/// The maximum number of held-out rows. With this number the coverage has a standard deviation of
/// 0.2 % or less.
inline constexpr std::size_t kMostConformalRows = 50'000;

/// The conformal step of conformalized quantile regression (Romano, Patterson, Candes 2019) for
/// every pair of knots (tau, 1 - tau) at once.
///
/// With scores s_i = max(q_tau(x_i) - y_i, y_i - q_(1-tau)(x_i)) of n held-out rows the pair is
/// moved apart by the ceil((n+1)(1-2 tau))-th smallest score, or together where that is negative.
/// Ranks are exact integers. With weights, a cumulative mass replaces the rank, and the new row has
/// the largest weight, because its weight is not known. If the rank exceeds n, only an infinite
/// pair would keep the level; the rank is then n: the pair then covers at least n / (n + 1). The
/// median stays where it is. Afterwards the pairs are widened where they must be to nest and to
/// hold the median, never narrowed, so each still covers at least 1 - 2 tau on average, or n / (n +
/// 1) where that is less. A level within 1e-12 of a knot is that knot; one between two knots is
/// answered by the outer one; one beyond the last knot by that knot's pair, moved by the rank of
/// the level asked.
class ConformalBands {
 public:
  /// Row i of `quantiles` has held-out row i's quantiles at the knots, ascending and finite.
  /// `weight` may be empty; no weight is 0 or less. Throws kShapeMismatch, and kBadData without
  /// rows. Time O(n) for each pair, O(n log n) with weights that differ.
  ConformalBands(MatrixView quantiles, std::span<const double> y, std::span<const double> weight);

  /// From a row's quantiles at the knots, ascending and finite, to those at `levels`, ascending.
  /// Does not decrease; infinite only from an earlier version's file. May be called from several
  /// threads at once.
  void answer(std::span<const double> knots, std::span<const Level> levels,
              std::span<double> out) const;

  /// How far each pair was moved apart, from the outermost inwards.
  std::span<const double> shifts() const noexcept { return shift_; }

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static ConformalBands load(const TensorReader& in);

 private:
  /// How ranks are taken. Files of an earlier version had infinite pairs where the rank is more
  /// than n, and counted the row to come as an average one.
  enum class Ranks { kFinite, kEarlier };

  ConformalBands() = default;
  double outer_shift(Level level) const;

  std::vector<double> shift_;         // of each pair, from the outermost inwards
  std::vector<double> outer_score_;   // of the outermost pair, ascending, for levels beyond it
  std::vector<double> outer_weight_;  // of these rows; empty where all count the same
  Ranks ranks_ = Ranks::kFinite;
};

}  // namespace tare
