// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows/column_plan.h"

#include <utility>

namespace tare::serve {

ColumnPlan::ColumnPlan(const Schema& schema, Need need) {
  for (const InputColumn& input : schema.inputs()) {
    add(input.name, input.categorical ? ColumnKind::kText : ColumnKind::kNumber, "feature");
  }
  for (const std::string& name : schema.given_columns()) {
    add(name, ColumnKind::kNumber, "prediction");
  }
  if (need == Need::kFeaturesAndTarget) add(schema.target(), ColumnKind::kNumber, "target");
  if (!schema.group().empty()) {
    add(schema.group().name(), ColumnKind::kSkip, "group");
    columns_[places_.find(schema.group().name())->second].raw = true;
  }
}

ColumnPlan ColumnPlan::with_ids(const std::string& name) const {
  ColumnPlan plan = *this;
  plan.add(name, ColumnKind::kSkip, "id");
  plan.columns_[plan.places_.find(name)->second].raw = true;
  return plan;
}

void ColumnPlan::add(const std::string& name, ColumnKind kind, std::string part) {
  if (!places_.emplace(name, columns_.size()).second) return;  // a group that is a feature, too
  columns_.push_back({name, kind, false, std::move(part)});
}

std::optional<std::size_t> ColumnPlan::find(std::string_view name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> ColumnPlan::names() const {
  std::vector<std::string> names;
  for (const PlannedColumn& column : columns_) names.push_back(column.name);
  return names;
}

}  // namespace tare::serve
