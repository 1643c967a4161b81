// SPDX-License-Identifier: BSD-3-Clause
#include "serve/rows/row_table.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/strings.h"
#include "io/csv.h"
#include "serve/http/refusal.h"

namespace tare::serve {
namespace {

/// Long values are cut: a message is read by people, and kept in logs.
std::string shortened(std::string_view value) {
  constexpr std::size_t kLongest = 60;
  if (value.size() <= kLongest) return std::string(value);
  return fmt::format("{}...", value.substr(0, kLongest));
}

std::string column_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 20;
  if (names.size() <= kMost) return join(names, ", ");
  return fmt::format("{}, ... ({} in all; GET /v1/model lists them)",
                     join(std::span(names).first(kMost), ", "), names.size());
}

}  // namespace

RowTable::RowTable(const ColumnPlan& plan, const RowLimits& limits)
    : plan_(plan),
      limits_(limits),
      in_row_(plan.columns().size(), 0),
      codes_(plan.columns().size()) {
  table_.source = "body";
  for (const PlannedColumn& planned : plan.columns()) {
    Column column;
    column.name = planned.name;
    column.kind = planned.kind;
    table_.columns.push_back(std::move(column));
  }
}

void RowTable::start_row() {
  ++row_;
  if (row_ > limits_.rows) {
    refuse(413, "more than {} rows in one request (send them in several)", limits_.rows);
  }
  named_ = 0;
  filled_ = 0;
  place_ = kIgnored;
}

void RowTable::name_cell(std::string_view name) {
  limits_.time.check_sometimes();
  if (++named_ > limits_.columns) {
    refuse(413, "row {} has more than {} columns (send only those that the model needs)", row_,
           limits_.columns);
  }
  const auto found = plan_.find(name);
  place_ = found.value_or(kIgnored);
  if (!found) {
    ignored_name_.assign(name.substr(0, 60));
    return;
  }
  if (in_row_[place_] == row_) {
    refuse_cell({row_ - 1, std::string(name)}, "column '{}' occurs twice (send each name once)",
                name);
  }
  in_row_[place_] = row_;
  ++filled_;
}

void RowTable::wrong_kind(std::string_view value, std::string_view remedy) const {
  const PlannedColumn& column = plan_.columns()[place_];
  refuse_cell({row_ - 1, column.name},
              "column '{}': {} is not a number, but the {} is numeric ({})", column.name,
              shortened(value), column.part, remedy);
}

void RowTable::number(double value, std::string_view text) {
  if (place_ == kIgnored) return;
  if (plan_.columns()[place_].kind == ColumnKind::kNumber) {
    table_.columns[place_].numbers.push_back(value);
    if (!plan_.columns()[place_].raw) return;
  }
  add_text(text);
}

void RowTable::truth(bool value) {
  if (place_ == kIgnored) return;
  const std::string_view text = value ? "true" : "false";
  if (plan_.columns()[place_].kind == ColumnKind::kNumber) wrong_kind(text, "send 1 or 0");
  add_text(text);
}

void RowTable::text(std::string_view value) {
  if (place_ == kIgnored) return;
  if (plan_.columns()[place_].kind == ColumnKind::kNumber) {
    wrong_kind('"' + shortened(value) + '"',
               "send a number without quotes, or null if it is missing");
  }
  add_text(value);
}

/// The cell as a category, as a group, or as both.
void RowTable::add_text(std::string_view value) {
  Column& column = table_.columns[place_];
  const PlannedColumn& planned = plan_.columns()[place_];
  if (planned.raw) {
    column.raw.bytes += value;
    column.raw.ends.push_back(column.raw.bytes.size());
  }
  if (planned.kind != ColumnKind::kText) return;
  if (is_missing_text(value)) {
    add_missing(column);
    return;
  }
  const auto next = static_cast<std::int32_t>(column.vocabulary.size());
  const auto [found, is_new] = codes_[place_].emplace(value, next);
  if (is_new) column.vocabulary.emplace_back(value);
  column.codes.push_back(found->second);
}

void RowTable::null() {
  if (place_ == kIgnored) return;
  Column& column = table_.columns[place_];
  const PlannedColumn& planned = plan_.columns()[place_];
  if (planned.raw) column.raw.ends.push_back(column.raw.bytes.size());
  if (planned.kind != ColumnKind::kSkip) add_missing(column);
}

void RowTable::add_missing(Column& column) {
  if (column.missing == 0) {
    column.first_missing = row_ - 1;
    column.first_missing_text = "null";
  }
  ++column.missing;
  if (column.kind == ColumnKind::kText) {
    column.codes.push_back(-1);
  } else {
    column.numbers.push_back(std::numeric_limits<double>::quiet_NaN());
  }
}

void RowTable::nested() const {
  const std::string& name = place_ == kIgnored ? ignored_name_ : plan_.columns()[place_].name;
  refuse_cell({row_ - 1, name},
              "'{}' contains a list or an object (a cell must be a number, a text or null)", name);
}

void RowTable::end_row() {
  if (filled_ < plan_.columns().size()) {
    for (std::size_t j = 0; j < in_row_.size(); ++j) {
      if (in_row_[j] == row_) continue;
      const PlannedColumn& absent = plan_.columns()[j];
      refuse_cell({row_ - 1, absent.name}, "has no column '{}', the model's {} (needed: {})",
                  absent.name, absent.part, column_list(plan_.names()));
    }
  }
  table_.lines.push_back(row_);
}

Table RowTable::take() { return std::move(table_); }

}  // namespace tare::serve
