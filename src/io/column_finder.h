// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "tare/io/table.h"

namespace tare {

/// Finds many columns of a table by name, in time linear in their number. The table must live
/// longer and keep its columns.
class ColumnFinder {
 public:
  explicit ColumnFinder(const Table& table) : table_(table) {}

  /// The column of that name, or null.
  const Column* find(std::string_view name) {
    // Names mostly come in the order of the columns, and then nothing has to be built.
    if (next_ < table_.columns.size() && table_.columns[next_].name == name) {
      return &table_.columns[next_++];
    }
    if (places_.empty()) {
      places_.reserve(table_.columns.size());
      for (std::size_t j = 0; j < table_.columns.size(); ++j) {
        places_.emplace(table_.columns[j].name, j);
      }
    }
    const auto found = places_.find(name);
    if (found == places_.end()) return nullptr;
    next_ = found->second + 1;
    return &table_.columns[found->second];
  }

 private:
  const Table& table_;
  std::unordered_map<std::string_view, std::size_t> places_;
  std::size_t next_ = 0;
};

}  // namespace tare
