// SPDX-License-Identifier: BSD-3-Clause
#include "apply/level_columns.h"

#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {
namespace {

[[noreturn]] void fail_list(std::string_view option, std::string value, std::string_view problem,
                            std::string remedy) {
  fail(ErrorCode::kInvalidArgument,
       {.option = std::string(option), .value = std::move(value), .remedies = {advice(remedy)}},
       "{}", problem);
}

void check_inside(double value, std::string_view option) {
  if (value > 0.0 && value < 1.0) return;
  fail_list(option, fmt::to_string(value),
            fmt::format("holds '{}', which does not lie strictly between 0 and 1", value),
            "0.9 means 90 %");
}

void add_level(LevelColumns& columns, double value) {
  const std::size_t place = columns.levels.size();
  columns.levels.emplace_back(value);
  columns.names.push_back(fmt::format("q{}", value));
  columns.delivered.push_back({"delivered_" + columns.names.back(), place, place});
}

void add_interval(LevelColumns& columns, double confidence) {
  const std::size_t place = columns.levels.size();
  const auto [lower, upper] = interval_levels(confidence);
  columns.levels.insert(columns.levels.end(), {lower, upper});
  columns.names.push_back(fmt::format("lower_{}", confidence));
  columns.names.push_back(fmt::format("upper_{}", confidence));
  columns.delivered.push_back({fmt::format("delivered_{}", confidence), place, place + 1});
}

}  // namespace

std::span<const double> usual_levels() {
  static constexpr std::array<double, 3> kUsual = {0.05, 0.5, 0.95};
  return kUsual;
}

LevelColumns level_columns(std::span<const double> levels, std::span<const double> intervals) {
  LevelColumns columns;
  for (const double value : levels) {
    check_inside(value, "levels");
    add_level(columns, value);
  }
  for (const double value : intervals) {
    check_inside(value, "interval");
    add_interval(columns, value);
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : columns.names) {
    if (seen.insert(name).second) continue;
    fail(ErrorCode::kInvalidArgument,
         {.option = name.starts_with('q') ? "levels" : "interval",
          .value = name,
          .remedies = {advice("name each level and interval once")},
          .named_in_problem = true},
         "'{}' is requested twice", name);
  }
  return columns;
}

std::vector<double> parse_level_list(std::string_view text, std::string_view option) {
  std::vector<double> values;
  if (text.empty()) return values;
  if (trim(text).empty()) {
    fail_list(option, std::string(text), "names no level", "0.05,0.5,0.95 are three");
  }
  for (const std::string& item : split_text(text, ',')) {
    const auto value = parse_number(item);
    if (!value) {
      fail_list(
          option, std::string(trim(item)),
          fmt::format("holds '{}', which is not a number strictly between 0 and 1", trim(item)),
          "0.9 means 90 %");
    }
    values.push_back(*value);
  }
  return values;
}

}  // namespace tare
