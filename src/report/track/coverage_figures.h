// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "report/html/page.h"
#include "report/track/track_rows.h"

namespace tare {

// Each needs rows with a target; the moving ones at least TrackRows::kStretch of them.

/// The share of covered targets in each stretch of 100 rows, with what chance allows.
Card moving_coverage_card(const TrackRows& rows, const Tracked::Interval& interval);
/// The same for the targets at or below the answers of a level.
Card moving_level_card(const TrackRows& rows, const Tracked::LevelShare& share);
/// Coverage over all rows so far, with the proven bound.
Card coverage_so_far_card(const TrackRows& rows, const Tracked::Interval& interval);
Card width_card(const TrackRows& rows, const Tracked::Interval& interval);
/// The levels at which answers of the last 100 rows would have had the shares `low` and `high` of
/// targets below them.
Card needed_level_card(const TrackRows& rows, double low, double high);

}  // namespace tare
