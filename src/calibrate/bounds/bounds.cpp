// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/bounds/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {
namespace {

constexpr std::array kBoundsOptions = std::to_array<ParamInfo>({
    {"bounds", "auto",
     "range of possible targets: LOW,HIGH, either of which may be empty ('0,' means never "
     "negative); none; auto detects 0 for counts and amounts and 0 and 1 for shares if enough "
     "targets show it"},
});

constexpr std::size_t kLeastAtAnEnd = 20;

/// Whether enough of `rows` rows lie at an end: `count` is at least 20 and a share of them.
bool shows_an_end(std::size_t count, std::size_t rows, double share) {
  return count >= kLeastAtAnEnd && static_cast<double>(count) >= share * static_cast<double>(rows);
}

std::optional<double> parse_end(const std::string& part, const std::string& text) {
  if (part.empty()) return std::nullopt;
  const auto value = parse_number(part);
  if (!value || !std::isfinite(*value)) {
    fail_option("bounds", text,
                "must be auto, none or LOW,HIGH, two numbers of which either may be empty");
  }
  return value;
}

}  // namespace

double TargetBounds::nearest(double value) const noexcept {
  if (low && value < *low) return *low;
  if (high && value > *high) return *high;
  return value;
}

std::string TargetBounds::text() const {
  if (empty()) return "none";
  return fmt::format("{},{}", low ? fmt::to_string(*low) : "", high ? fmt::to_string(*high) : "");
}

std::span<const ParamInfo> bounds_options() { return kBoundsOptions; }

BoundsRule parse_bounds(const Params& params) {
  const std::string text = params.text("bounds", "auto");
  const std::string name = canonical_name(text);
  if (name == "auto") return {};
  BoundsRule rule;
  rule.find = false;
  if (name == "none") return rule;
  const std::vector<std::string> parts = split_text(text, ',');
  if (parts.size() == 2) {
    rule.given = {parse_end(parts[0], text), parse_end(parts[1], text)};
    const bool ordered = !rule.given.low || !rule.given.high || *rule.given.low < *rule.given.high;
    if (!rule.given.empty() && ordered) return rule;
  }
  fail_option("bounds", text,
              "must be auto, none or LOW,HIGH with LOW below HIGH, either of which may be empty",
              {use("bounds", "0,", "for targets that are never negative")});
}

bool are_whole(std::span<const double> y) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  return std::ranges::all_of(
      y, [](double value) { return value == std::floor(value) && std::abs(value) <= kMost; });
}

TargetBounds find_bounds(std::span<const double> y) {
  constexpr double kShare = 0.01;
  constexpr double kShareOfCounts = 0.002;
  constexpr double kNear = 0.01;
  TargetBounds found;
  if (y.empty()) return found;
  const auto [lowest, highest] = std::ranges::minmax(y);
  if (lowest < 0.0) return found;
  const auto at_lowest = static_cast<std::size_t>(std::ranges::count(y, lowest));
  const bool whole = are_whole(y);
  if (whole ? lowest <= 1.0 && shows_an_end(at_lowest, y.size(), kShareOfCounts)
            : lowest == 0.0 && shows_an_end(at_lowest, y.size(), kShare)) {
    found.low = 0.0;
  }
  if (whole || highest > 1.0) return found;
  const auto near = [&](double end) {
    return static_cast<std::size_t>(
        std::ranges::count_if(y, [&](double value) { return std::abs(value - end) <= kNear; }));
  };
  if (shows_an_end(near(0.0), y.size(), kShare) && shows_an_end(near(1.0), y.size(), kShare)) {
    found = {0.0, 1.0};
  }
  return found;
}

TargetBounds resolve_bounds(const BoundsRule& rule, std::span<const double> y,
                            std::span<const double> weight) {
  const auto counts = [&](std::size_t i) { return weight.empty() || weight[i] > 0.0; };
  if (rule.find) {
    std::vector<double> own;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (counts(i)) own.push_back(y[i]);
    }
    return find_bounds(own);
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!counts(i) || rule.given.nearest(y[i]) == y[i]) continue;
    fail(ErrorCode::kBadData,
         {.row = i,
          .value = fmt::to_string(y[i]),
          .remedies = {advice("correct the row"), {"change", "bounds", "", "to hold all targets"}}},
         "the target {} is outside the bounds {}", y[i], rule.given.text());
  }
  return rule.given;
}

}  // namespace tare
