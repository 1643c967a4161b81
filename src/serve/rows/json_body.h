// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/rows/column_plan.h"
#include "tare/io/table.h"

namespace tare::serve {

/// What a JSON body may hold; which of it is allowed depends on what is asked.
struct JsonBody {
  std::optional<Table> table;  // of "rows"
  std::optional<std::vector<double>> levels;
  std::optional<std::vector<double>> intervals;  // of "interval", a number or a list
  std::optional<bool> diagnostics;
  std::optional<std::vector<std::string>> ids;
  std::optional<std::vector<double>> targets;
};

/// What to expect of a body.
struct JsonExpectation {
  const ColumnPlan& plan;
  std::size_t most_rows;
  std::vector<std::string> keys;  // that the outer object may have
};

/// {"rows": [{...}, ...], ...}, read in one pass and straight into columns, so that memory stays a
/// small multiple of the body's size, however it is nested. Throws Refusal: 400 for what is no JSON
/// or another key, 413 for too many rows, 422 for rows that the model cannot take.
JsonBody parse_json_body(std::string_view body, const JsonExpectation& expected);

/// A row on each line that is not blank. Throws as parse_json_body, and names the line.
Table parse_ndjson_body(std::string_view body, const ColumnPlan& plan, std::size_t most_rows);

}  // namespace tare::serve
