// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/guarantee/ranks/guarantee_curve.h"
#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "tare/base/level.h"

namespace tare {

/// Fewer held-out rows than this cannot keep the 90 % interval: 0.05 (n + 1) < 1.
inline constexpr std::size_t kRowsForNinety = 19;

/// The mass up to and with a guaranteed quantile, in the order of the scores, for rows of mass
/// `all` in sum and a new one of mass `fresh`. More than `all`: no bound has the level.
Mass upper_target(Level level, Mass all, Mass fresh);
/// The same below 0.5. 0: no bound has the level.
Mass lower_target(Level level, Mass all, Mass fresh);
/// Whether some bound has the level.
bool can_keep(Level level, Mass all, Mass fresh);

/// The answer to a level that no bound keeps. It starts from the outermost score, the last bound
/// that keeps a level, and adds the difference of the model's own quantiles between two positions
/// on their curve: that of the outermost kept level and that of the requested level. For a level
/// below 0.5 `to` is below `from`.
struct OwnTail {
  CurvePlace from, to;
};
OwnTail own_tail(std::span<const Level> knots, Level level, Mass all, Mass fresh);
/// How far a row's own quantiles move along a tail: not negative upwards, not positive downwards,
/// and never NaN.
double tail_length(double from, double to, bool upwards);

/// Scores in ascending order, and the mass up to and with each of them.
struct ScoreSteps {
  std::vector<CurvePlace> place;
  std::vector<Mass> up_to;

  std::size_t size() const noexcept { return place.size(); }
  Mass mass() const noexcept { return up_to.empty() ? 0 : up_to.back(); }
  Mass mass_of(std::size_t step) const { return up_to[step] - (step > 0 ? up_to[step - 1] : 0); }
  void add(const CurvePlace& at, Mass mass) {
    place.push_back(at);
    up_to.push_back(this->mass() + mass);
  }
  /// The place at which the mass reaches `target`, from 1 to mass().
  const CurvePlace& reaching(Mass target) const;
};

/// The ranks of the scores of n held-out rows. They determine the position of each level on the
/// curve such that a new row, exchangeable with these, keeps the level.
///
/// From 0.5 on a level tau is an upper bound, P(y <= Q) >= tau: the ceil((n+1) tau)-th smallest
/// `upper`. Below 0.5 it is a lower one, P(y < Q) <= tau: the floor((n+1) tau)-th smallest `lower`.
/// Without ties these probabilities are the rank over n + 1, so less than 1 / (n + 1) from tau.
/// Rows of unequal weight, including the new row, occupy ranks in proportion to their mass
/// (Tibshirani, Barber, Candes, Ramdas 2019). Ties of scores can only widen intervals. Places never
/// decrease with the level: ties could put a lower bound above the median's place, and it then
/// takes that place.
class GuaranteeRanks {
 public:
  GuaranteeRanks() = default;
  explicit GuaranteeRanks(std::span<const RowScore> scores);

  /// For a new row with the largest weight of these; the outermost score if no bound keeps the
  /// level.
  CurvePlace place(Level level) const { return place(level, largest_); }
  CurvePlace place(Level level, Mass fresh) const;
  /// What place(level) keeps where rows count alike: its rank over n + 1. At least the level from
  /// 0.5 on and at most the level below; n / (n + 1) or 1 / (n + 1) where no bound has the level.
  double delivered(Level level) const;

  std::size_t rows() const noexcept { return rows_; }
  Mass mass() const noexcept { return upper_.mass(); }
  Mass largest() const noexcept { return largest_; }
  /// The sum of the squares of the masses over their sum: that of each row where all are alike.
  double typical_mass() const noexcept { return typical_; }
  /// Whether a target was at a knot: that of a row whose quantiles share values with targets.
  bool has_masses() const noexcept { return has_masses_; }
  const ScoreSteps& upper() const noexcept { return upper_; }
  const ScoreSteps& lower() const noexcept { return lower_; }

  /// With fewer scores, some 600 of 10,000, for merging: neighbours are put at the outermost of
  /// them, upper ones upwards and lower ones downwards, so that bounds only widen. Those that are
  /// put together have at most 1/48 of the mass that lies further out and 1/384 of all: a bound
  /// that should have the share alpha beyond it has at least alpha - min(alpha/48, 1/384).
  GuaranteeRanks thinned() const;

  /// What is saved.
  struct Parts {
    std::size_t rows = 0;
    Mass largest = 1;
    ScoreSteps upper, lower;
  };
  /// Throws kCorruptFile for what no scores on that many knots can give.
  static GuaranteeRanks from_parts(Parts parts, std::size_t knots);

 private:
  /// What follows from the steps.
  void summarize();

  std::size_t rows_ = 0;
  Mass largest_ = 1;
  double typical_ = 1.0;
  bool has_masses_ = false;
  ScoreSteps upper_, lower_;
};

}  // namespace tare
