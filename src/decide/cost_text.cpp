// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <string>

#include "base/fail.h"
#include "base/strings.h"
#include "tare/decide/cost.h"

namespace tare {
namespace {

const char* const kCostForms =
    "over=1,under=4 is a pair of costs; a table has the columns action, outcome and cost";

[[noreturn]] void fail_cost(std::string_view text, std::string_view problem) {
  fail(ErrorCode::kInvalidArgument,
       {.option = "cost", .value = std::string(text), .remedies = {advice(kCostForms)}}, "{}",
       problem);
}

/// Numbers of a column, none missing.
const std::vector<double>& cost_column(const Table& table, std::string_view name) {
  const Column* const column = table.find(name);
  if (column == nullptr) {
    fail(ErrorCode::kNotFound,
         {.source = table.source,
          .option = "cost",
          .remedies = {advice(kCostForms)},
          .named_in_problem = true},
         "a table of costs needs a column '{}'", name);
  }
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (i < column->numbers.size() && !std::isnan(column->numbers[i])) continue;
    fail(ErrorCode::kBadData,
         {.source = table.source,
          .line = table.lines[i],
          .row = i,
          .column = std::string(name),
          .remedies = {advice("actions, outcomes and costs are numbers: number the actions")}},
         "has no number in this row");
  }
  return column->numbers;
}

}  // namespace

Cost Cost::from_table(const Table& table) {
  const std::vector<double>& action = cost_column(table, "action");
  const std::vector<double>& outcome = cost_column(table, "outcome");
  const std::vector<double>& cost = cost_column(table, "cost");
  std::vector<Entry> entries(table.rows());
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {action[i], outcome[i], cost[i]};
  return Cost::table(entries);
}

Cost Cost::parse_over_under(std::string_view text) {
  std::optional<double> over;
  std::optional<double> under;
  for (const std::string& part : split_text(text, ',')) {
    const std::size_t mark = part.find('=');
    const std::string name =
        mark == std::string::npos ? "" : canonical_name(trim(part.substr(0, mark)));
    if (name != "over" && name != "under") {
      fail_cost(text,
                fmt::format("has '{}', which is neither over=NUMBER nor under=NUMBER", trim(part)));
    }
    std::optional<double>& rate = name == "over" ? over : under;
    if (rate) fail_cost(text, fmt::format("has '{}' twice", name));
    rate = parse_number(trim(part.substr(mark + 1)));
    if (!rate) {
      fail_cost(text, fmt::format("'{}' must be a positive number, got '{}'", name,
                                  trim(part.substr(mark + 1))));
    }
  }
  if (!over || !under) {
    fail_cost(text, fmt::format("has no '{}'", over ? "under" : "over"));
  }
  return over_under(*over, *under);
}

Cost Cost::parse(std::string_view text) {
  // A file may have any name; 'over = 1' and 'UNDER=4' are meant as costs.
  const std::string_view start = trim(text.substr(0, text.find('=')));
  const std::string name = canonical_name(start);
  if (text.find('=') != std::string_view::npos && (name == "over" || name == "under")) {
    return parse_over_under(text);
  }
  if (trim(text).empty()) fail_cost(text, "is empty");
  if (text == "-") fail_cost(text, "cannot be standard input, which is for rows");
  try {
    return from_table(read_csv(std::string(text)));
  } catch (const Error& error) {
    const bool no_file = error.code() == ErrorCode::kNotFound && error.details().option.empty();
    if (no_file && text.find('=') != std::string_view::npos) {
      fail_cost(text, "is neither a pair of costs nor a file");
    }
    throw;
  }
}

}  // namespace tare
