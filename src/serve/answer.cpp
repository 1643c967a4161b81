// SPDX-License-Identifier: BSD-3-Clause
#include "serve/answer.h"

#include "base/strings.h"
#include "io/json_text.h"
#include "serve/http/refusal.h"

namespace tare::serve {
namespace {

void append_texts(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_text(out, texts[i]);
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
  refuse(415, "the Content-Type is '{}' (use application/json, application/x-ndjson or text/csv)",
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

std::string answer_json(const Predictor& predictor, const Answers& answers,
                        const std::vector<Notice>& warnings, const std::string& version,
                        const std::vector<std::string>& ids) {
  std::string out = "{\"model\":";
  append_json_text(out, version);
  out += ",\"rows\":[";
  predictor.append_json(out, {}, answers, ",");
  out += "],\"ids\":";
  append_texts(out, ids);
  out += ",\"warnings\":";
  append_notices_json(out, warnings);
  return out + "}\n";
}

std::string warnings_header(const std::vector<Notice>& warnings) {
  std::string text;
  for (const Notice& warning : warnings) {
    if (!text.empty()) text += ", ";
    text += warning.code + "=" + std::to_string(warning.rows);
  }
  return text;
}

std::string answer_ndjson(const Predictor& predictor, const Answers& answers) {
  std::string out;
  predictor.append_json(out, {}, answers, "\n");
  return out + "\n";
}

std::string answer_csv(const Predictor& predictor, const Answers& answers, const Table& table) {
  std::string out;
  predictor.append_csv_header(out);
  predictor.append_csv(out, table, answers);
  return out;
}

}  // namespace tare::serve
