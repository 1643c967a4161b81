// SPDX-License-Identifier: BSD-3-Clause
#include "levels.h"

#include "base/fail.h"
#include "base/strings.h"

namespace tare::cli {
namespace {

double number_in(const std::string& item, std::string_view option) {
  const auto value = parse_number(item);
  if (!value || !(*value > 0.0 && *value < 1.0)) {
    fail(ErrorCode::kInvalidArgument,
         "{}: '{}' does not lie strictly between 0 and 1 (0.9 means 90 %)", option, trim(item));
  }
  return *value;
}

}  // namespace

std::vector<std::string> parse_names(const std::string& text) {
  std::vector<std::string> names;
  if (trim(text).empty()) return names;
  for (const std::string& item : split_text(text, ',')) names.emplace_back(trim(item));
  return names;
}

LevelRequest parse_levels(const std::string& levels, const std::string& intervals) {
  LevelRequest request;
  const bool neither = levels.empty() && intervals.empty();
  for (const std::string& item : parse_names(neither ? "0.05,0.5,0.95" : levels)) {
    const Level level(number_in(item, "--levels"));
    request.levels.push_back(level);
    request.names.push_back(fmt::format("q{}", level.value()));
    const std::size_t place = request.levels.size() - 1;
    request.delivered.push_back({"delivered_" + request.names.back(), place, place});
  }
  for (const std::string& item : parse_names(intervals)) {
    const double confidence = number_in(item, "--interval");
    const auto [lower, upper] = interval_levels(confidence);
    request.levels.push_back(lower);
    request.names.push_back(fmt::format("lower_{}", confidence));
    request.levels.push_back(upper);
    request.names.push_back(fmt::format("upper_{}", confidence));
    const std::size_t upper_place = request.levels.size() - 1;
    request.delivered.push_back(
        {fmt::format("delivered_{}", confidence), upper_place - 1, upper_place});
  }
  if (request.levels.empty()) {
    fail(ErrorCode::kInvalidArgument,
         "--levels and --interval name no level (0.05,0.5,0.95 are three)");
  }
  return request;
}

}  // namespace tare::cli
