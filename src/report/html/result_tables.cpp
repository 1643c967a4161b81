// SPDX-License-Identifier: BSD-3-Clause
#include "report/html/result_tables.h"

#include <fmt/format.h>

#include <cmath>

namespace tare {
namespace {

/// Three significant digits: 0.0436, 1.53, 20.1.
std::string short_figure(double value) { return fmt::format("{:.3g}", value); }

std::string cell_text(const SummaryCell& cell) {
  std::string text = cell.count == 0 ? "-" : short_figure(cell.mean);
  if (cell.count > 1) text += fmt::format(" ± {}", fmt::format("{:.2g}", cell.sd));
  if (cell.paper_mean) {
    text += fmt::format(" ({}", short_figure(*cell.paper_mean));
    if (cell.paper_sd) text += fmt::format(" ± {}", short_figure(*cell.paper_sd));
    text += ")";
  }
  return text;
}

}  // namespace

std::vector<const SummaryTable*> all_tables(const Summary& summary) {
  std::vector<const SummaryTable*> tables;
  for (const SummaryTable& table : summary.tables) tables.push_back(&table);
  if (summary.overall) tables.push_back(&*summary.overall);
  return tables;
}

std::vector<std::vector<std::string>> result_cells(const SummaryTable& table) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0] = {"method"};
  rows[0].insert(rows[0].end(), table.metrics.begin(), table.metrics.end());
  rows[0].emplace_back("seconds");
  for (const SummaryRow& row : table.rows) {
    std::vector<std::string> cells = {row.options.empty() ? row.method
                                                          : row.method + " " + row.options};
    for (const SummaryCell& cell : row.cells) cells.push_back(cell_text(cell));
    cells.push_back(fmt::format("{:.3g}", row.seconds));
    rows.push_back(std::move(cells));
  }
  std::vector<std::string> last = {"perfect"};
  for (const auto& floor : table.floors) last.push_back(floor ? short_figure(*floor) : "");
  last.emplace_back("");
  rows.push_back(std::move(last));
  return rows;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += '|';
    for (const std::string& cell : rows[i]) text += fmt::format(" {} |", cell);
    text += '\n';
    if (i > 0) continue;
    text += "|---|";
    for (std::size_t k = 1; k < rows[0].size(); ++k) text += "---:|";
    text += '\n';
  }
  return text;
}

std::string results_markdown(const Summary& summary, const std::string& provenance) {
  std::string text = fmt::format("# {}\n\n{}\n\n{}\n", summary.title, provenance, kResultsLegend);
  for (const SummaryTable* table : all_tables(summary)) {
    text += fmt::format("\n## {}\n\n{}", table->case_name, markdown_table(result_cells(*table)));
  }
  return text;
}

}  // namespace tare
