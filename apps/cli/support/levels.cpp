// SPDX-License-Identifier: BSD-3-Clause
#include "support/levels.h"

#include "base/strings.h"

namespace tare::cli {
std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names;
  if (trim(text).empty()) return names;
  for (const std::string& item : split_text(text, ',')) names.emplace_back(trim(item));
  return names;
}

LevelColumns parse_levels(const std::string& levels, const std::string& intervals) {
  return level_columns(parse_level_list(levels, "levels"), parse_level_list(intervals, "interval"));
}

}  // namespace tare::cli
