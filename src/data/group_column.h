// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "io/tensor_store.h"
#include "tare/io/table.h"

namespace tare {

/// The column of groups of a guarantee. Values are compared as texts of the file, so a missing
/// value is a group like any other.
class GroupColumn {
 public:
  /// The code of a value that was not there at fit.
  static constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

  GroupColumn() = default;  // no groups
  /// From the column's raw cells in the given rows. Throws kBadData for too many values, or one
  /// that is not UTF-8.
  GroupColumn(const Table& table, std::string name, std::span<const std::size_t> rows);

  bool empty() const noexcept { return name_.empty(); }
  const std::string& name() const noexcept { return name_; }
  const std::vector<std::string>& values() const noexcept { return values_; }
  /// The index in values() of each row's cell, or kUnseen.
  std::vector<std::uint32_t> codes(const Table& table, std::span<const std::size_t> rows) const;

  Json to_json() const { return {{"name", name_}, {"values", values_}}; }
  /// Throws kCorruptFile, or what Json throws.
  static GroupColumn from_json(const Json& json);

 private:
  std::string name_;
  std::vector<std::string> values_;  // sorted
};

}  // namespace tare
