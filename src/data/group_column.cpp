// SPDX-License-Identifier: BSD-3-Clause
#include "data/group_column.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/fail.h"
#include "io/table_place.h"

namespace tare {
namespace {

/// With more values, no group would have enough rows.
constexpr std::size_t kMaxGroups = 10'000;

}  // namespace

GroupColumn::GroupColumn(const Table& table, std::string name, std::span<const std::size_t> rows)
    : name_(std::move(name)) {
  const Column& column = *table.find(name_);
  std::set<std::string, std::less<>> seen;
  for (const std::size_t i : rows) {
    const std::string_view text = column.raw[i];
    if (seen.find(text) == seen.end()) seen.emplace(text);
    if (seen.size() > kMaxGroups) {
      fail(ErrorCode::kBadData, no_column(table.source, name_),
           "column '{}' has more than {} values, too many for groups", name_, kMaxGroups);
    }
  }
  values_.assign(seen.begin(), seen.end());
  try {
    static_cast<void>(to_json().dump());  // a model file keeps them as JSON, which is UTF-8
  } catch (const Json::exception&) {
    ErrorDetails details = no_column(table.source, name_);
    details.remedies = {advice("convert the file, for example with iconv -f latin1 -t utf-8")};
    fail(ErrorCode::kBadData, std::move(details), "column '{}' has a value that is not UTF-8 text",
         name_);
  }
}

std::vector<std::uint32_t> GroupColumn::codes(const Table& table,
                                              std::span<const std::size_t> rows) const {
  const Column& column = *table.find(name_);
  std::vector<std::uint32_t> codes;
  codes.reserve(rows.size());
  for (const std::size_t i : rows) {
    const std::string_view text = column.raw[i];
    const auto place = std::lower_bound(values_.begin(), values_.end(), text);
    const bool known = place != values_.end() && *place == text;
    codes.push_back(known ? static_cast<std::uint32_t>(place - values_.begin()) : kUnseen);
  }
  return codes;
}

GroupColumn GroupColumn::from_json(const Json& json) {
  GroupColumn column;
  column.name_ = json.at("name").get<std::string>();
  column.values_ = json.at("values").get<std::vector<std::string>>();
  if (column.name_.empty() || !std::ranges::is_sorted(column.values_)) {
    fail(ErrorCode::kCorruptFile, "the model file's groups are damaged");
  }
  return column;
}

}  // namespace tare
