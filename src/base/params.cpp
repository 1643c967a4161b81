// SPDX-License-Identifier: BSD-3-Clause
#include "tare/base/params.h"

#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/strings.h"

namespace tare {

Params Params::parse(std::string_view text) {
  Params params;
  for (const std::string& item : split_text(text, ' ')) {
    if (item.empty()) continue;
    const std::size_t mark = item.find('=');
    if (mark == std::string::npos || mark == 0) {
      fail(ErrorCode::kInvalidArgument, {.value = item}, "'{}' is not of the form name=value",
           item);
    }
    params.set(item.substr(0, mark), item.substr(mark + 1));
  }
  return params;
}

std::string Params::text() const {
  std::string all;
  for (const auto& [name, value] : values_) {
    all += fmt::format("{}{}={}", all.empty() ? "" : " ", name, value);
  }
  return all;
}

bool Params::has(std::string_view name) const { return values_.contains(name); }

void Params::set(std::string name, std::string value) {
  values_.insert_or_assign(std::move(name), std::move(value));
}

void Params::merge(const Params& other) {
  for (const auto& [name, value] : other.values_) set(name, value);
}

std::string Params::text(std::string_view name, std::string_view fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(fallback) : found->second;
}

double Params::number(std::string_view name, double fallback, double low, double high) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const auto value = parse_number(found->second);
  if (!value || !(*value >= low && *value <= high)) {
    fail_option(name, found->second, fmt::format("must be a number from {} to {}", low, high));
  }
  return *value;
}

std::size_t Params::count(std::string_view name, std::size_t fallback, std::size_t low,
                          std::size_t high) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return fallback;
  const auto value = parse_count(found->second);
  if (!value || *value < low || *value > high) {
    fail_option(name, found->second,
                fmt::format("must be a whole number from {} to {}", low, high));
  }
  return *value;
}

void Params::check_known(std::string_view owner,
                         std::span<const std::span<const ParamInfo>> known) const {
  for (const auto& [name, value] : values_) {
    bool found = false;
    std::vector<std::string> names;
    for (const auto list : known) {
      for (const ParamInfo& info : list) {
        found = found || info.name == name;
        names.emplace_back(info.name);
      }
    }
    if (!found) {
      fail(ErrorCode::kInvalidArgument,
           {.option = name,
            .value = value,
            .remedies = {advice("it has: " + join(names, ", "))},
            .named_in_problem = true},
           "{} has no option '{}'", owner, name);
    }
  }
}

}  // namespace tare
