// SPDX-License-Identifier: BSD-3-Clause
#include "tare/io/table.h"

#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/fail.h"
#include "io/csv.h"

namespace tare {
namespace {

void count_missing(Column& column, std::size_t row, std::string_view text) {
  if (column.missing++ > 0) return;
  column.first_missing = row;
  column.first_missing_text = text;
}

}  // namespace

std::vector<std::string> Table::names() const {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return names;
}

Column& Table::new_column(std::string name, std::size_t count, ColumnKind kind) {
  if (find(name) != nullptr) {
    fail(ErrorCode::kInvalidArgument, "the table has a column '{}' already", name);
  }
  if (columns.empty() && lines.empty()) {
    lines.resize(count);
    std::iota(lines.begin(), lines.end(), std::uint64_t{1});
  }
  if (count != rows()) {
    fail(ErrorCode::kShapeMismatch, "column '{}' has {} rows, and the table has {}", name, count,
         rows());
  }
  Column& column = columns.emplace_back();
  column.name = std::move(name);
  column.kind = kind;
  return column;
}

void Table::add_numbers(std::string name, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isinf(values[i])) continue;
    fail(ErrorCode::kBadData, "column '{}', row {}: the number is infinite", name, i + 1);
  }
  Column& column = new_column(std::move(name), values.size(), ColumnKind::kNumber);
  column.numbers.assign(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) count_missing(column, i, "NaN");
  }
}

void Table::add_texts(std::string name, std::span<const std::string> values) {
  Column& column = new_column(std::move(name), values.size(), ColumnKind::kText);
  std::unordered_map<std::string_view, std::int32_t> code_of;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_missing_text(values[i])) {
      count_missing(column, i, values[i]);
      column.codes.push_back(-1);
      continue;
    }
    const auto next = static_cast<std::int32_t>(column.vocabulary.size());
    const auto [known, is_new] = code_of.emplace(values[i], next);
    if (is_new) column.vocabulary.push_back(values[i]);
    column.codes.push_back(known->second);
  }
}

void Table::add_codes(std::string name, std::span<const std::int32_t> codes,
                      std::vector<std::string> vocabulary) {
  for (const std::int32_t code : codes) {
    if (code >= -1 && (code < 0 || static_cast<std::size_t>(code) < vocabulary.size())) continue;
    fail(ErrorCode::kInvalidArgument, "column '{}': code {} of {} categories", name, code,
         vocabulary.size());
  }
  Column& column = new_column(std::move(name), codes.size(), ColumnKind::kText);
  column.codes.assign(codes.begin(), codes.end());
  column.vocabulary = std::move(vocabulary);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < 0) count_missing(column, i, "");
  }
}

Table read_csv(const std::string& path) {
  CsvReader reader(path);
  reader.select(std::vector<ColumnRequest>(reader.header().size(), {ColumnKind::kAuto, true}));
  return read_all(reader);
}

}  // namespace tare
