// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "evaluate/experiment/summary.h"

namespace tare {

/// The leaderboard of a plan whose cases are known-law problems: for each method the individual
/// calibration error (ICE), averaged over the problems, with a column for each number of rows.
/// Nothing if the plan has fewer than two such cases, or any other case.
///
/// Means and deviations are over repeats. A repeat counts for a method only if the method finished
/// every problem in it: means over different problems cannot be compared.
std::optional<SummaryTable> overall_table(const ExperimentPlan& plan, const Results& results);

}  // namespace tare
