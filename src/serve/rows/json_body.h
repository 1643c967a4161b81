// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/rows/column_plan.h"
#include "serve/rows/row_limits.h"
#include "tare/io/table.h"

namespace tare::serve {

/// "cost" of a body: {"over": 1, "under": 4}, or a table by its columns, {"action": [...],
/// "outcome": [...], "cost": [...]}.
struct CostBody {
  std::optional<double> over;
  std::optional<double> under;
  std::optional<std::vector<double>> action;
  std::optional<std::vector<double>> outcome;
  std::optional<std::vector<double>> cost;
};

/// The contents of a JSON body; the request determines which of them are allowed.
struct JsonBody {
  std::optional<Table> table;  // of "rows"
  std::optional<std::vector<double>> levels;
  std::optional<std::vector<double>> intervals;  // of "interval", a number or a list
  std::optional<std::string> set;                // "interval" or "shortest"
  std::optional<CostBody> cost;
  std::optional<bool> diagnostics;
  std::optional<std::vector<std::string>> ids;
  std::optional<std::vector<double>> targets;
};

/// What to expect of a body.
struct JsonExpectation {
  const ColumnPlan& plan;
  RowLimits limits;
  std::vector<std::string> keys;  // that the outer object may have
  std::size_t most_costs = 0;     // entries of a table in "cost"
};

/// {"rows": [{...}, ...], ...}, read in one pass directly into columns, so that memory is a small
/// multiple of the size of the body, for any nesting. Throws Refusal: 400 for invalid JSON or an
/// unknown key, 413 beyond a limit, 422 for rows that are not valid for the model, 503 after the
/// time.
JsonBody parse_json_body(std::string_view body, const JsonExpectation& expected);

/// One row per line; blank lines are ignored. Throws as parse_json_body, with the line number.
Table parse_ndjson_body(std::string_view body, const ColumnPlan& plan, const RowLimits& limits);

}  // namespace tare::serve
