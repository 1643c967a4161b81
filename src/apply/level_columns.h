// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/level.h"

namespace tare {

/// The requested quantiles and the names of their columns: levels in the given order, then the two
/// ends of each interval.
struct LevelColumns {
  std::vector<Level> levels;
  std::vector<std::string> names;  // "q0.05", "lower_0.9"
  /// A column for the level that a guarantee keeps of a level or an interval: its name, and the
  /// indices in `levels`.
  struct Delivered {
    std::string name;  // "delivered_q0.05", "delivered_0.9"
    std::size_t lower = 0;
    std::size_t upper = 0;  // the same as `lower` for a level
  };
  std::vector<Delivered> delivered;
};

/// The default levels: 0.05, 0.5, 0.95.
std::span<const double> usual_levels();

/// Throws kInvalidArgument for a number that does not lie strictly between 0 and 1, and for a
/// repeated level or interval.
LevelColumns level_columns(std::span<const double> levels, std::span<const double> intervals);

/// "0.05,0.5" to numbers; `option` is the list's name, "levels" or "interval". Throws
/// kInvalidArgument.
std::vector<double> parse_level_list(std::string_view text, std::string_view option);

}  // namespace tare
