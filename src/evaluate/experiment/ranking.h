// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "evaluate/experiment/plan.h"
#include "evaluate/experiment/result_file.h"

namespace tare {

/// A method in a ranking.
struct RankedMethod {
  std::string method;
  std::string options;
  std::size_t repeats = 0;  // finished ones
  double score = 0.0;       // mean over repeats; smaller is better
  // By how much it is worse than the best, repeat by repeat on the same rows, and the 95 %
  // confidence interval of that.
  double behind = 0.0;
  double behind_low = 0.0;
  double behind_high = 0.0;
  bool tied = false;  // the interval contains 0: cannot be distinguished from the best
  // Of the two-sided test that the difference is 0, and the same corrected by Holm's method for all
  // pairs of methods (see correct_comparisons). 1 for the best itself and if there is no interval.
  double p = 1.0;
  double adjusted = 1.0;

  bool survives() const { return adjusted <= kComparisonLevel; }
  static constexpr double kComparisonLevel = 0.05;
};

/// The methods of a case from best to worst, and the p-values of all pairs of them.
struct Ranking {
  std::vector<RankedMethod> methods;
  std::vector<double> pair_p;   // (0, 1), (0, 2), ..., (1, 2), ... by rank; NaN: no test
  std::size_t comparisons = 0;  // that all p-values were corrected for
};

/// The methods of a plan's case from best to worst by `metric`. Repeats share rows, so their spread
/// alone would make intervals too short: the variance of a mean over J repeats is taken to be
/// (1/J + test/train) s^2 (Nadeau & Bengio 2003), with Student's t for J - 1 degrees of freedom.
/// With one repeat there is no interval, and no methods are distinguished. Only repeats that both
/// methods finished are compared. Corrected for the comparisons of this case.
Ranking rank_methods(const ExperimentPlan& plan, const ExperimentCase& one, const Results& results,
                     const std::string& metric);

/// Corrects for the comparisons of all rankings together, by Holm's method. Every pair of methods
/// counts, not only those with the best: the best is chosen on the same repeats, so a correction
/// for its pairs alone would be too weak.
void correct_comparisons(std::span<Ranking* const> rankings);

}  // namespace tare
