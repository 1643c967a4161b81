// SPDX-License-Identifier: BSD-3-Clause
#include "serve/answer.h"

#include <algorithm>

#include "base/strings.h"
#include "io/csv.h"
#include "serve/json_text.h"
#include "serve/problem.h"

namespace tare::serve {
namespace {

/// The keys of a row's object, escaped once for all rows: `{"q0.05":`, `,"q0.5":`.
std::vector<std::string> row_keys(const RowAnswers& answers) {
  std::vector<std::string> keys;
  for (const std::string& name : answers.names) {
    std::string key = keys.empty() ? "{" : ",";
    append_json_text(key, name);
    keys.push_back(key + ":");
  }
  return keys;
}

void append_row_object(std::string& out, const RowAnswers& answers,
                       const std::vector<std::string>& keys, std::size_t i) {
  const std::span<const double> row = answers.values.row(i);
  for (std::size_t j = 0; j < row.size(); ++j) {
    out += keys[j];
    if (answers.is_flag[j]) {
      out += row[j] != 0.0 ? "true" : "false";
    } else {
      append_json_number(out, row[j]);
    }
  }
  out += '}';
}

void append_texts(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_text(out, texts[i]);
  }
  out += ']';
}

void append_warnings(std::string& out, const std::vector<RowWarning>& warnings) {
  out += '[';
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    if (i > 0) out += ',';
    out += "{\"code\":";
    append_json_text(out, warnings[i].code);
    out += ",\"rows\":" + std::to_string(warnings[i].rows) + ",\"text\":";
    append_json_text(out, warnings[i].text);
    out += '}';
  }
  out += ']';
}

}  // namespace

BodyFormat parse_body_format(std::string_view content_type) {
  const std::string_view plain = trim(content_type.substr(0, content_type.find(';')));
  std::string lower(plain);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (lower == "application/json") return BodyFormat::kJson;
  if (lower == "application/x-ndjson" || lower == "application/ndjson" ||
      lower == "application/jsonl") {
    return BodyFormat::kNdjson;
  }
  if (lower == "text/csv") return BodyFormat::kCsv;
  refuse(415,
         "the Content-Type is '{}' (there are: application/json, application/x-ndjson, text/csv)",
         plain.substr(0, 60));
}

std::string_view content_type_of(BodyFormat format) {
  switch (format) {
    case BodyFormat::kJson:
      return "application/json";
    case BodyFormat::kNdjson:
      return "application/x-ndjson";
    case BodyFormat::kCsv:
      return "text/csv; charset=utf-8";
  }
  return "";
}

std::string answer_json(const RowAnswers& answers, const std::string& version,
                        const std::vector<std::string>& ids) {
  const std::vector<std::string> keys = row_keys(answers);
  std::string out = "{\"model\":";
  append_json_text(out, version);
  out += ",\"rows\":[";
  for (std::size_t i = 0; i < answers.values.rows(); ++i) {
    if (i > 0) out += ',';
    append_row_object(out, answers, keys, i);
  }
  out += "],\"ids\":";
  append_texts(out, ids);
  out += ",\"warnings\":";
  append_warnings(out, answers.warnings);
  return out + "}\n";
}

std::string warnings_header(const std::vector<RowWarning>& warnings) {
  std::string text;
  for (const RowWarning& warning : warnings) {
    if (!text.empty()) text += ", ";
    text += warning.code + "=" + std::to_string(warning.rows);
  }
  return text;
}

std::string answer_ndjson(const RowAnswers& answers) {
  const std::vector<std::string> keys = row_keys(answers);
  std::string out;
  for (std::size_t i = 0; i < answers.values.rows(); ++i) {
    append_row_object(out, answers, keys, i);
    out += '\n';
  }
  return out;
}

std::string answer_csv(const RowAnswers& answers, const Table& table,
                       const std::vector<std::string>& keep) {
  std::string out;
  std::vector<const Column*> kept;
  for (const std::string& name : keep) {
    if (std::ranges::find(answers.names, name) != answers.names.end()) {
      refuse(400,
             "'{}' would be two columns of the answer, one kept and one a result (leave it out of "
             "keep, or rename it)",
             name);
    }
    kept.push_back(table.find(name));
    append_csv_cell(out, name);
    out += ',';
  }
  for (std::size_t j = 0; j < answers.names.size(); ++j) {
    if (j > 0) out += ',';
    append_csv_cell(out, answers.names[j]);
  }
  out += '\n';
  for (std::size_t i = 0; i < answers.values.rows(); ++i) {
    for (const Column* column : kept) {
      append_csv_cell(out, column->raw[answers.rows[i]]);
      out += ',';
    }
    const std::span<const double> row = answers.values.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (j > 0) out += ',';
      append_csv_number(out, row[j]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace tare::serve
