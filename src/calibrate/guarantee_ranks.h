// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/guarantee_mass.h"
#include "tare/base/level.h"
#include "tare/base/rng.h"

namespace tare {

/// Fewer held-out rows than this leave an end of the 90 % interval infinite: 0.05 (n + 1) < 1.
inline constexpr std::size_t kRowsForNinety = 19;

/// Where a target lies among its row's quantiles at the knots.
struct RowScore {
  std::int32_t upper = 0;  // first knot whose quantile is at least y; the number of knots: none is
  std::int32_t lower = 0;  // last knot whose quantile is at most y; -1: none is
  double beyond = 0.0;     // how far y lies outside all of them, negative below; else 0
  Mass mass = 1;           // how much the row counts
};

/// `quantiles` ascend and are not NaN; y is finite.
RowScore score_row(std::span<const double> quantiles, double y);

/// Where y is a mass, the row's quantiles at several knots, and it lies at each of their levels at
/// once. Draws one of these levels, evenly: `upper` does not fall and `lower` does not rise, so
/// that y <= the quantile at every knot from `upper` on, and y >= at every knot up to `lower`, hold
/// as before, and bounds stay valid on average over the draws. Without it every row at a mass
/// counts as within all levels of its jump, and the ranks make up for that at other rows' expense.
void draw_within_mass(std::span<const Level> knots, Rng& rng, RowScore& score);

/// Where a guaranteed quantile lies: at the knot's quantile, moved by `beyond`, which is 0 but at
/// the outermost knots and infinite where no finite bound has the level.
struct KnotPlace {
  std::size_t knot = 0;
  double beyond = 0.0;
};

/// The mass up to and with a guaranteed quantile, in the order of the scores, for rows of mass
/// `all` in sum and a new one of mass `fresh`. More than `all`: no finite bound has the level.
Mass upper_target(Level level, Mass all, Mass fresh);
/// The same below 0.5. 0: no finite bound has the level.
Mass lower_target(Level level, Mass all, Mass fresh);

/// The ranks of n held-out rows' scores: which knot answers a level so that a new row, exchangeable
/// with these, keeps it.
///
/// From 0.5 on a level tau is an upper bound, P(y <= Q) >= tau: the ceil((n+1) tau)-th smallest
/// `upper`. Below 0.5 it is a lower one, P(y < Q) <= tau: the floor((n+1) tau)-th smallest `lower`.
/// Rows that count differently take up ranks by their mass, and the new row its own (Tibshirani,
/// Barber, Candes, Ramdas 2019). Rows outside all knots count by how far outside they are. A rank
/// beyond the rows is infinite. Scores that tie can only widen. Places never decrease with the
/// level: ties could put a lower bound above the median's place, and it then takes that place.
class GuaranteeRanks {
 public:
  GuaranteeRanks() = default;
  GuaranteeRanks(std::span<const RowScore> scores, std::size_t knots);

  /// For a new row that counts as much as the largest of these.
  KnotPlace place(Level level) const { return place(level, largest_); }
  KnotPlace place(Level level, Mass fresh) const;
  /// What place(level) keeps where rows count alike: its rank over n + 1. At least the level from
  /// 0.5 on, and 1 where the place is infinite; at most the level below 0.5, and 0 where it is
  /// infinite.
  double delivered(Level level) const;

  std::size_t rows() const noexcept { return rows_; }
  Mass mass() const noexcept { return upper_below_.empty() ? 0 : upper_below_.back() + sum_above_; }
  Mass largest() const noexcept { return largest_; }

  /// A row outside all knots.
  struct Outside {
    double beyond = 0.0;
    Mass mass = 1;
  };
  /// What is saved: for each knot the mass of the rows whose score is at most this knot, leaving
  /// out those outside all knots, and these, by how far outside they are, ascending.
  struct Counts {
    std::size_t rows = 0;
    Mass largest = 1;
    std::vector<Mass> upper, lower;
    std::vector<Outside> above, below;
  };
  Counts counts() const { return {rows_, largest_, upper_below_, lower_below_, above_, below_}; }
  /// Throws kCorruptFile for what no scores can give.
  static GuaranteeRanks from_counts(Counts counts);

 private:
  KnotPlace upper_place(Mass target) const;
  KnotPlace lower_place(Mass target) const;

  std::size_t rows_ = 0;
  Mass largest_ = 1;
  Mass sum_above_ = 0, sum_below_ = 0;
  std::vector<Mass> upper_below_;  // of rows with upper <= knot
  std::vector<Mass> lower_below_;  // of rows with 0 <= lower <= knot
  std::vector<Outside> above_;     // y - the last knot's quantile, ascending, > 0
  std::vector<Outside> below_;     // y - the first knot's quantile, ascending, < 0
};

}  // namespace tare
