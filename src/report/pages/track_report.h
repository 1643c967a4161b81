// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tare/apply/track.h"

namespace tare {

/// What the page about a stream says besides its rows.
struct TrackReport {
  std::string data_name;
  std::string target;
  std::string provenance;
  double drift_rate = 0.01;
  std::vector<std::pair<std::string, std::string>> facts;  // about the model
};

/// One self-contained page. `lines` are those of the table that was followed. Its size has a bound
/// that does not depend on the number of rows.
std::string track_report_html(const TrackReport& report, const Tracked& tracked,
                              std::span<const std::size_t> lines);

/// Intervals and levels with figures; the others are in the table.
inline constexpr std::size_t kDrawnIntervals = 3;

}  // namespace tare
