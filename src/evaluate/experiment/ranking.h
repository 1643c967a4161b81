// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evaluate/experiment/plan.h"
#include "evaluate/experiment/result_file.h"

namespace tare {

/// A method's place in a contest.
struct RankedMethod {
  std::string method;
  std::string options;
  std::size_t repeats = 0;  // that were finished
  double score = 0.0;       // mean over repeats; smaller is better
  // By how much it is worse than the best, repeat by repeat on the same rows, and the 95 %
  // confidence interval of that.
  double behind = 0.0;
  double behind_low = 0.0;
  double behind_high = 0.0;
  bool tied = false;  // the interval holds 0: cannot be told from the best
};

/// The methods of a plan's case from best to worst by `metric`. Repeats share rows, so their spread
/// alone would make intervals too short: the variance of a mean over J repeats is taken to be
/// (1/J + test/train) s^2 (Nadeau & Bengio 2003), with Student's t for J - 1 degrees of freedom.
/// With one repeat there is no interval and nothing is told apart. Only repeats that both methods
/// finished are compared.
std::vector<RankedMethod> rank_methods(const ExperimentPlan& plan, const ExperimentCase& one,
                                       const Results& results, const std::string& metric);

}  // namespace tare
