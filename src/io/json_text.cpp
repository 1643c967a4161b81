// SPDX-License-Identifier: BSD-3-Clause
#include "io/json_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/csv.h"

namespace tare {
namespace {

bool is_plain(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code >= 0x20 && code < 0x7F && c != '"' && c != '\\';
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) {  // nearly always, and ten times as fast
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_json_number(std::string& out, double value) {
  if (std::isfinite(value)) {
    append_csv_number(out, value);
  } else {
    out += "null";
  }
}

bool is_nested_too_deeply(std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;  // the next character is escaped
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostJsonDepth) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace tare
