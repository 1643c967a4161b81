// SPDX-License-Identifier: BSD-3-Clause
#include "io/select_columns.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "io/table_place.h"

namespace tare {
namespace {

std::size_t cells_of(const Column& column) {
  return column.kind == ColumnKind::kNumber ? column.numbers.size() : column.codes.size();
}

bool is_selected(const Column& column, const ColumnRequest& request, std::size_t rows) {
  if (request.raw && column.raw.ends.size() != rows) return false;
  if (request.kind == ColumnKind::kSkip) return true;
  if (column.kind == ColumnKind::kSkip || cells_of(column) != rows) return false;
  return request.kind == ColumnKind::kAuto || request.kind == column.kind;
}

std::vector<std::string> texts_of(const Column& column, std::size_t rows) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < rows; ++i) texts.push_back(cell_text(column, i));
  return texts;
}

/// A column of texts is one of numbers only where every cell is missing.
std::vector<double> numbers_of(const Table& table, const Column& column,
                               const ColumnRequest& request) {
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (column.codes[i] < 0) continue;
    ErrorDetails details = cell_details(table, column.name, i);
    details.value = cell_text(column, i);
    if (!request.remedy.empty()) details.remedies = {advice(std::string(request.remedy))};
    fail(ErrorCode::kBadData, std::move(details), "'{}' is not a number", cell_text(column, i));
  }
  return std::vector<double>(table.rows(), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::string cell_text(const Column& column, std::size_t i) {
  if (i < column.raw.ends.size()) return std::string(column.raw[i]);
  std::string text;
  if (column.kind == ColumnKind::kNumber) {
    append_csv_number(text, column.numbers[i]);
  } else if (column.codes[i] >= 0) {
    text = column.vocabulary[static_cast<std::size_t>(column.codes[i])];
  }
  return text;
}

bool is_selected(const Table& table, std::span<const ColumnRequest> requests) {
  assert(requests.size() == table.columns.size() && "one request for each column");
  for (std::size_t j = 0; j < requests.size(); ++j) {
    if (!is_selected(table.columns[j], requests[j], table.rows())) return false;
  }
  return true;
}

Table select_columns(const Table& table, std::span<const ColumnRequest> requests) {
  Table selected;
  selected.source = table.source;
  selected.lines = table.lines;
  for (std::size_t j = 0; j < requests.size(); ++j) {
    const Column& column = table.columns[j];
    const ColumnRequest& request = requests[j];
    const bool read = column.kind != ColumnKind::kSkip;
    if (!read && (request.kind != ColumnKind::kSkip || request.raw)) {
      fail(ErrorCode::kBadData, {.source = table.source, .column = column.name},
           "the cells were not read");
    }
    if (request.kind == ColumnKind::kSkip) {
      selected.columns.emplace_back().name = column.name;
    } else if (request.kind == ColumnKind::kText && column.kind == ColumnKind::kNumber) {
      selected.add_texts(column.name, texts_of(column, table.rows()));
    } else if (request.kind == ColumnKind::kNumber && column.kind == ColumnKind::kText) {
      selected.add_numbers(column.name, numbers_of(table, column, request));
    } else {
      selected.columns.push_back(column);
    }
    Column& last = selected.columns.back();
    if (!request.raw) {
      last.raw = {};
    } else if (last.raw.ends.size() != table.rows()) {
      last.raw = {};
      for (const std::string& text : texts_of(column, table.rows())) last.raw.push_back(text);
    }
  }
  return selected;
}

}  // namespace tare
