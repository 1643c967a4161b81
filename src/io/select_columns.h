// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/csv.h"

namespace tare {

/// How cell i of a column is written: as in the file or, where that is not known, as its shortest
/// decimal; empty for a missing value that does not come from a file.
std::string cell_text(const Column& column, std::size_t i);

/// Whether every column of the table already is what its request asks for, as in a table that was
/// read with these requests.
bool is_selected(const Table& table, std::span<const ColumnRequest> requests);

/// A table with the columns as the requests ask for them, one request for each column: what a
/// CsvReader with these requests would have read. Numbers become text as they were written or,
/// where that is not known, as their shortest decimal. Throws kBadData for a text in a column of
/// numbers.
Table select_columns(const Table& table, std::span<const ColumnRequest> requests);

}  // namespace tare
