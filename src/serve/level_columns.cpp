// SPDX-License-Identifier: BSD-3-Clause
#include "serve/level_columns.h"

#include <array>

#include "base/strings.h"
#include "serve/problem.h"

namespace tare::serve {
namespace {

void check_inside(double value, std::string_view name) {
  if (value > 0.0 && value < 1.0) return;
  refuse(400, "{}: {} does not lie strictly between 0 and 1 (0.9 means 90 %)", name, value);
}

void add_level(LevelColumns& columns, double value) {
  check_inside(value, "levels");
  const std::size_t place = columns.levels.size();
  columns.levels.emplace_back(value);
  columns.names.push_back(fmt::format("q{}", value));
  columns.delivered.push_back({"delivered_" + columns.names.back(), place, place});
}

void add_interval(LevelColumns& columns, double confidence) {
  check_inside(confidence, "interval");
  const std::size_t place = columns.levels.size();
  const auto [lower, upper] = interval_levels(confidence);
  columns.levels.insert(columns.levels.end(), {lower, upper});
  columns.names.push_back(fmt::format("lower_{}", confidence));
  columns.names.push_back(fmt::format("upper_{}", confidence));
  columns.delivered.push_back({fmt::format("delivered_{}", confidence), place, place + 1});
}

}  // namespace

LevelColumns level_columns(std::span<const double> levels, std::span<const double> intervals,
                           std::size_t most) {
  static constexpr std::array<double, 3> kUsual = {0.05, 0.5, 0.95};
  if (levels.empty() && intervals.empty()) levels = kUsual;
  if (levels.size() + 2 * intervals.size() > most) {
    refuse(413,
           "{} levels were asked for, and {} is the most (ask for the rest in another request)",
           levels.size() + 2 * intervals.size(), most);
  }
  LevelColumns columns;
  for (const double value : levels) add_level(columns, value);
  for (const double value : intervals) add_interval(columns, value);
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (columns.names[i] != columns.names[j]) continue;
      refuse(400, "'{}' is asked for twice (name each level and interval once)", columns.names[i]);
    }
  }
  return columns;
}

std::vector<double> parse_level_list(std::string_view text, std::string_view name) {
  std::vector<double> values;
  if (trim(text).empty()) return values;
  for (const std::string& item : split_text(text, ',')) {
    const auto value = parse_number(item);
    if (!value)
      refuse(400, "{}: '{}' is not a number (such as {}=0.05,0.5,0.95)", name, item, name);
    values.push_back(*value);
  }
  return values;
}

}  // namespace tare::serve
