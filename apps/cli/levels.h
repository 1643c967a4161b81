// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tare/base/level.h"

namespace tare::cli {

/// The columns of quantiles that a user asked for: levels in the user's order, then the two ends of
/// each interval.
struct LevelRequest {
  std::vector<Level> levels;
  std::vector<std::string> names;  // "q0.05", "lower_0.9"
  /// What a guarantee keeps of each level or interval: a column's name, and its places in `levels`.
  struct Delivered {
    std::string name;  // "delivered_q0.05", "delivered_0.9"
    std::size_t level = 0;
    std::size_t upper = 0;  // of an interval; the same as `level` for a level
  };
  std::vector<Delivered> delivered;
};

/// From the texts of --levels and --interval, each a list with commas; neither given means
/// 0.05,0.5,0.95. Throws kInvalidArgument.
LevelRequest parse_levels(const std::string& levels, const std::string& intervals);

/// "a, b,c" to names; empty text to none.
std::vector<std::string> parse_names(const std::string& text);

}  // namespace tare::cli
