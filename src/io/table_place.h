// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "tare/base/error.h"
#include "tare/io/table.h"

namespace tare {

/// The place of a cell, for an error.
inline ErrorDetails cell_details(const Table& table, const std::string& column, std::size_t row) {
  ErrorDetails details;
  details.source = table.source;
  details.line = table.lines[row];
  details.row = table.first_row + row;
  details.column = column;
  return details;
}

/// For an error whose problem says that the source has no such column.
inline ErrorDetails no_column(const std::string& source, const std::string& column) {
  ErrorDetails details;
  details.source = source;
  details.column = column;
  details.named_in_problem = true;
  return details;
}

}  // namespace tare
