// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv.h"
#include "serve/rows/row_limits.h"
#include "tare/io/table.h"

namespace tare::serve {

/// The columns to read of a body with this header.
using CsvRequests =
    std::function<std::vector<ColumnRequest>(const std::vector<std::string>& header)>;

/// Rows of a CSV body, with the columns that are asked for. At most `raw_cells` cells are kept as
/// text. Throws Refusal: 413 beyond a limit, 503 after the time, 422 for rows that are not valid
/// for the model, 400 for a column to keep that does not exist.
Table parse_csv_body(std::string_view body, const CsvRequests& requests, const RowLimits& limits,
                     std::size_t raw_cells);

}  // namespace tare::serve
