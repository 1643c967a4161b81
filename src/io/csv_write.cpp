// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "io/csv.h"

namespace tare {

void append_csv_cell(std::string& out, std::string_view cell, char delimiter) {
  const char special[] = {delimiter, '"', '\n', '\r'};
  if (cell.find_first_of(std::string_view(special, sizeof special)) == std::string_view::npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv_number(std::string& out, double value) {
  if (std::isnan(value)) return;
  // Not std::to_chars, which is about as fast but writes 100000 as 1e+05.
  char text[32];
  const char* end = fmt::format_to(text, FMT_COMPILE("{}"), value);
  out.append(text, static_cast<std::size_t>(end - text));
}

}  // namespace tare
