// SPDX-License-Identifier: BSD-3-Clause
#include "apply/answer_text.h"

#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/fail.h"
#include "io/csv.h"
#include "io/json_text.h"

namespace tare {
namespace {

std::string key_of(const std::string& name) {
  std::string key;
  append_json_text(key, name);
  return key + ":";
}

}  // namespace

AnswerText::AnswerText(const AnswerColumns& columns, std::vector<std::string> keep)
    : columns_(columns), keep_(std::move(keep)) {
  const std::unordered_set<std::string_view> results(columns.names().begin(),
                                                     columns.names().end());
  for (const std::string& name : keep_) {
    if (results.contains(name)) {
      fail(ErrorCode::kInvalidArgument,
           {.column = name,
            .option = "keep",
            .value = name,
            .remedies = {{"leave it out of", "keep", "", ""}, advice("rename it")},
            .named_in_problem = true},
           "'{}' would be two columns of the output, one kept and one a result", name);
    }
    kept_keys_.push_back(key_of(name));
  }
  for (const std::string& name : columns.names()) keys_.push_back(key_of(name));
}

std::vector<const Column*> AnswerText::kept_columns(const Table& table) const {
  if (keep_.empty()) return {};
  std::unordered_map<std::string_view, const Column*> named;
  for (const Column& column : table.columns) named.emplace(column.name, &column);
  std::vector<const Column*> kept;
  for (const std::string& name : keep_) kept.push_back(named.at(name));
  return kept;
}

void AnswerText::append_csv_header(std::string& out) const {
  for (const std::string& name : keep_) {
    append_csv_cell(out, name);
    out += ',';
  }
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (j > 0) out += ',';
    append_csv_cell(out, columns_.names()[j]);
  }
  out += '\n';
}

void AnswerText::append_csv(std::string& out, const Table& table, std::span<const std::size_t> rows,
                            MatrixView values) const {
  const std::vector<const Column*> kept = kept_columns(table);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (const Column* column : kept) {
      append_csv_cell(out, column->raw[rows[i]]);
      out += ',';
    }
    const std::span<const double> row = values.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j > 0) out += ',';
      append_csv_number(out, row[j]);
    }
    out += '\n';
  }
}

void AnswerText::append_json(std::string& out, const Table& table,
                             std::span<const std::size_t> rows, MatrixView values,
                             std::string_view between) const {
  const std::vector<const Column*> kept = kept_columns(table);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    if (i > 0) out += between;
    char before = '{';
    const auto start = [&](const std::string& key) {
      out += std::exchange(before, ',');
      out += key;
    };
    for (std::size_t k = 0; k < kept.size(); ++k) {
      start(kept_keys_[k]);
      append_json_text(out, kept[k]->raw[rows[i]]);
    }
    const std::span<const double> row = values.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (std::isnan(row[j])) continue;
      start(keys_[j]);
      if (columns_.is_flag(j)) {
        out += row[j] != 0.0 ? "true" : "false";
      } else {
        append_json_number(out, row[j]);
      }
    }
    if (before == '{') out += before;
    out += '}';
  }
}

}  // namespace tare
