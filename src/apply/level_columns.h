// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/level.h"

namespace tare {

/// The quantiles that are asked for, and the names of their columns: levels in the order given,
/// then the two ends of each interval.
struct LevelColumns {
  std::vector<Level> levels;
  std::vector<std::string> names;  // "q0.05", "lower_0.9"
  /// What a guarantee keeps of a level or an interval: a column's name, and its places in `levels`.
  struct Delivered {
    std::string name;  // "delivered_q0.05", "delivered_0.9"
    std::size_t lower = 0;
    std::size_t upper = 0;  // the same as `lower` for a level
  };
  std::vector<Delivered> delivered;
};

/// Neither given means 0.05, 0.5, 0.95. Throws kInvalidArgument for a number that does not lie
/// strictly between 0 and 1 (option "levels" or "interval"), and for a level or an interval that is
/// asked for twice.
LevelColumns level_columns(std::span<const double> levels, std::span<const double> intervals);

/// "0.05,0.5" to numbers; `option` is the list's name, for the error. Throws kInvalidArgument.
std::vector<double> parse_level_list(std::string_view text, std::string_view option);

}  // namespace tare
