// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/base/level.h"

namespace tare::serve {

/// The quantiles that a request asks for, under the names that `tare predict` gives them: levels in
/// the order given, then the two ends of each interval.
struct LevelColumns {
  std::vector<Level> levels;
  std::vector<std::string> names;  // "q0.05", "lower_0.9"
  /// What a guarantee keeps of a level or an interval: a name, and its places in `levels`.
  struct Delivered {
    std::string name;
    std::size_t lower = 0;
    std::size_t upper = 0;  // the same as `lower` for a level
  };
  std::vector<Delivered> delivered;
};

/// Neither given means 0.05, 0.5, 0.95. Throws Problem 400 for a number outside (0, 1), 413 for
/// more than `most` levels.
LevelColumns level_columns(std::span<const double> levels, std::span<const double> intervals,
                           std::size_t most);

/// "0.05,0.5" to numbers; `name` is the parameter's, for the message. Throws Problem 400.
std::vector<double> parse_level_list(std::string_view text, std::string_view name);

}  // namespace tare::serve
