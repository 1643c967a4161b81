// SPDX-License-Identifier: BSD-3-Clause
#include "support/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/terminal.h"

namespace tare::cli {

std::string text_table(const std::vector<std::vector<std::string>>& cells) {
  // A line break in a name would break the table.
  std::vector<std::vector<std::string>> rows = cells;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], row[j].size());
  }
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line;
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      if (j == 0) {
        line += fmt::format("{:<{}}", rows[i][j], width[j]);
      } else {
        line += fmt::format("  {:>{}}", rows[i][j], width[j]);
      }
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    if (i == 0 && rows.size() > 1) {
      std::size_t total = 0;
      for (std::size_t j = 0; j < width.size(); ++j) total += width[j] + (j > 0 ? 2 : 0);
      out += std::string(total, '-') + "\n";
    }
  }
  return out;
}

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

}  // namespace tare::cli
