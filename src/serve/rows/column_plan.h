// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/schema.h"

namespace tare::serve {

/// A column that a row must have.
struct PlannedColumn {
  std::string name;
  ColumnKind kind = ColumnKind::kNumber;  // kSkip: only its text is wanted, as a group
  bool raw = false;                       // its text is wanted: it is the column of groups
  std::string part;  // "feature", "prediction", "target", "group", "id", for messages
};

/// The columns that the rows of a request must have, indexed by name.
class ColumnPlan {
 public:
  ColumnPlan(const Schema& schema, Need need);

  /// The same, and the texts of a column of ids.
  ColumnPlan with_ids(const std::string& name) const;

  const std::vector<PlannedColumn>& columns() const noexcept { return columns_; }
  /// The index in columns(), or nothing for a name that the model does not know.
  std::optional<std::size_t> find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  void add(const std::string& name, ColumnKind kind, std::string part);

  std::vector<PlannedColumn> columns_;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
};

}  // namespace tare::serve
