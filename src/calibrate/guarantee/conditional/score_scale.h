// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "calibrate/guarantee/ranks/guarantee_curve.h"
#include "io/tensor_store.h"
#include "tare/base/level.h"

namespace tare {

/// Places on a row's curve as numbers, for a regression: the normal quantile of the level at each
/// knot, straight lines between the knots, and beyond the last one the distance in units of
/// `unit`.
///
/// Numbers are whole multiples of kStep. An upper score is rounded up and a lower one down. Scores
/// can so be moved by less than kStep to make them distinct (ConditionalRanks), and a threshold is
/// rounded back to a score that a row could have.
class ScoreScale {
 public:
  static constexpr double kStep = 0x1.0p-20;
  static constexpr double kMost = 0x1.0p20;  // all places from here on are one score

  /// `unit` is positive and finite.
  ScoreScale(std::span<const Level> knots, double unit);

  double upper(const CurvePlace& place) const;
  double lower(const CurvePlace& place) const;
  /// The outermost place whose upper score is at most `score`, a multiple of kStep; or, alike,
  /// whose lower score is at least that.
  CurvePlace place(double score) const;
  double unit() const noexcept { return unit_; }

 private:
  double exact(const CurvePlace& place) const;

  std::vector<double> at_knot_;  // ascending multiples of kStep
  double unit_;
};

}  // namespace tare
