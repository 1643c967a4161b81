// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "report/html/page.h"
#include "report/track/track_rows.h"

namespace tare {

/// The evidence of drift, where an alarm would be raised, and the alarms. Needs rows with a target.
Card drift_card(const TrackRows& rows, std::span<const std::size_t> lines_of_table,
                double drift_rate);

/// The columns between which the last rows are drawn.
struct DrawnInterval {
  std::string name;  // "90 % interval"
  std::size_t lower = 0;
  std::size_t upper = 0;
};
/// The last rows with their predictions, intervals and targets.
Card last_rows_card(const TrackRows& rows, const std::string& target, const DrawnInterval& drawn);

/// "alarm at line 231; the change began at about line 180; the spread of errors is 1.5 times as
/// large, and they moved by 0.1 standard deviations; mostly where hour from 0 to 6"
std::string alarm_text(const TrackAlarm& alarm, std::span<const std::size_t> lines_of_table);

/// Rows of last_rows_card.
inline constexpr std::size_t kLastRows = 200;

}  // namespace tare
