// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/rows/column_plan.h"
#include "serve/rows/row_limits.h"
#include "tare/io/table.h"

namespace tare::serve {

/// Builds a table from cells that arrive one by one, by name, in any order. Names that the plan
/// does not have are ignored, as everywhere in tare. Throws Refusal 422 for a row without a
/// required column or with a cell of the wrong type, 413 beyond a limit, 503 after the time.
class RowTable {
 public:
  RowTable(const ColumnPlan& plan, const RowLimits& limits);

  void start_row();
  /// Sets the column of the next cells.
  void name_cell(std::string_view name);
  /// `text` is the number as written; categories are compared with it.
  void number(double value, std::string_view text);
  void text(std::string_view value);
  void truth(bool value);
  void null();
  /// A list or an object where a value belongs.
  [[noreturn]] void nested() const;
  void end_row();

  std::size_t rows() const noexcept { return table_.lines.size(); }
  /// Returns the table; the object is then empty.
  Table take();

 private:
  static constexpr std::size_t kIgnored = static_cast<std::size_t>(-1);

  void add_text(std::string_view value);
  void add_missing(Column& column);
  [[noreturn]] void wrong_kind(std::string_view value, std::string_view remedy) const;

  const ColumnPlan& plan_;
  RowLimits limits_;
  Table table_;
  std::size_t row_ = 0;              // that is being read, from 1
  std::size_t place_ = kIgnored;     // of the named cell
  std::string ignored_name_;         // of a cell that is passed over, for messages
  std::size_t named_ = 0;            // cells of this row so far
  std::size_t filled_ = 0;           // columns of this row that have their cell
  std::vector<std::size_t> in_row_;  // the last row in which a column was named
  std::vector<std::unordered_map<std::string, std::int32_t>> codes_;  // of each column's texts
};

}  // namespace tare::serve
