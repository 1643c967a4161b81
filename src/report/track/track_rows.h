// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tare/apply/track.h"

namespace tare {

/// The answered rows of a stream for figures.
struct TrackRows {
  TrackRows(const Tracked& of, std::span<const std::size_t> lines_of_table) : tracked(of) {
    for (std::size_t i = 0; i < of.rows.size(); ++i) {
      lines.push_back(static_cast<double>(lines_of_table[of.rows[i]]));
      if (std::isnan(of.targets[i])) continue;
      known.push_back(i);
      known_lines.push_back(lines.back());
    }
  }

  const Tracked& tracked;
  std::vector<double> lines;       // of the file, for each answered row
  std::vector<std::size_t> known;  // answered rows with a target
  std::vector<double> known_lines;

  static constexpr std::size_t kStretch = 100;  // rows of a moving share, as in Tracked
};

}  // namespace tare
