// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "evaluate/experiment/summary.h"

namespace tare {

/// The leaderboard of a plan whose cases are known laws: for each method the individual calibration
/// error (ICE), averaged over the problems, with a column for each number of rows. Nothing where
/// the plan has fewer than two such cases, or another one.
///
/// Means and deviations are over repeats. A repeat in which a method has not met every problem does
/// not count for it: a mean over some of them could not be compared with the others.
std::optional<SummaryTable> overall_table(const ExperimentPlan& plan, const Results& results);

}  // namespace tare
