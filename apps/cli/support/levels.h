// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "apply/level_columns.h"

namespace tare::cli {

/// From the texts of --levels and --interval, each a list with commas; neither given means
/// 0.05,0.5,0.95. Throws kInvalidArgument.
LevelColumns parse_levels(const std::string& levels, const std::string& intervals);

/// "a, b,c" to names; empty text to none.
std::vector<std::string> parse_names(const std::string& text);

}  // namespace tare::cli
