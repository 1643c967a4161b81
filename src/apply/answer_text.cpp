// SPDX-License-Identifier: BSD-3-Clause
#include "apply/answer_text.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/fail.h"
#include "io/csv.h"
#include "io/json_text.h"
#include "io/select_columns.h"
#include "tare/apply/notice.h"

namespace tare {
namespace {

std::string key_of(const std::string& name) {
  std::string key;
  append_json_text(key, name);
  return key + ":";
}

/// The cell as it is written; `buffer` holds it where the table does not.
std::string_view kept_cell(const Column& column, std::size_t row, std::string& buffer) {
  if (row < column.raw.ends.size()) return column.raw[row];
  buffer = cell_text(column, row);
  return buffer;
}

/// [[low, high], ...]
void append_set(std::string& out, std::span<const double> ends) {
  out += '[';
  for (std::size_t p = 0; p < ends.size() && !std::isnan(ends[p]); p += 2) {
    out += p > 0 ? ",[" : "[";
    append_json_number(out, ends[p]);
    out += ',';
    append_json_number(out, ends[p + 1]);
    out += ']';
  }
  out += ']';
}

}  // namespace

AnswerText::AnswerText(const AnswerColumns& columns) : columns_(columns) {
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::string set = columns.set_at(j);
    is_set_.push_back(set.empty() ? 0 : 1);
    keys_.push_back(key_of(set.empty() ? columns.names()[j] : set));
  }
}

void AnswerText::keep(std::vector<std::string> names) {
  if (names == keep_) return;
  const std::unordered_set<std::string_view> results(columns_.names().begin(),
                                                     columns_.names().end());
  std::vector<std::string> keys;
  for (const std::string& name : names) {
    if (results.contains(name)) {
      fail(ErrorCode::kInvalidArgument,
           {.column = name,
            .option = "keep",
            .value = name,
            .remedies = {{"leave it out of", "keep", "", ""}, advice("rename it")},
            .named_in_problem = true},
           "the output would have two columns '{}': a kept column and a result", name);
    }
    keys.push_back(key_of(name));
  }
  keep_ = std::move(names);
  kept_keys_ = std::move(keys);
}

std::vector<const Column*> AnswerText::kept_columns(const Table& table,
                                                    std::span<const std::size_t> rows) const {
  if (keep_.empty()) return {};
  if (!rows.empty() && std::ranges::max(rows) >= table.rows()) {
    fail(ErrorCode::kShapeMismatch, {.source = table.source},
         "has {} rows, but an answer refers to row {}", table.rows(), std::ranges::max(rows) + 1);
  }
  std::unordered_map<std::string_view, const Column*> named;
  for (const Column& column : table.columns) named.emplace(column.name, &column);
  std::vector<const Column*> kept;
  for (const std::string& name : keep_) {
    const auto found = named.find(name);
    if (found == named.end()) {
      fail(ErrorCode::kNotFound, {.source = table.source, .column = name, .named_in_problem = true},
           "has no column '{}' to keep", name);
    }
    kept.push_back(found->second);
  }
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
  const std::vector<const Column*> kept = kept_columns(table, rows);
  std::string buffer;
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (const Column* column : kept) {
      append_csv_cell(out, kept_cell(*column, rows[i], buffer));
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
  const std::vector<const Column*> kept = kept_columns(table, rows);
  std::string buffer;
  for (std::size_t i = 0; i < values.rows(); ++i) {
    if (i > 0) out += between;
    char before = '{';
    const auto start = [&](const std::string& key) {
      out += std::exchange(before, ',');
      out += key;
    };
    for (std::size_t k = 0; k < kept.size(); ++k) {
      start(kept_keys_[k]);
      append_json_text(out, kept_cell(*kept[k], rows[i], buffer));
    }
    const std::span<const double> row = values.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (is_set_[j] != 0) {
        start(keys_[j]);
        append_set(out, row.subspan(j, kSetColumns));
        j += kSetColumns - 1;
        continue;
      }
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

void append_notices_json(std::string& out, const std::vector<Notice>& notices) {
  out += '[';
  for (std::size_t i = 0; i < notices.size(); ++i) {
    if (i > 0) out += ',';
    out += "{\"code\":";
    append_json_text(out, notices[i].code);
    out += fmt::format(",\"rows\":{},\"text\":", notices[i].rows);
    append_json_text(out, notices[i].text);
    out += '}';
  }
  out += ']';
}

}  // namespace tare
