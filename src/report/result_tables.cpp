// SPDX-License-Identifier: BSD-3-Clause
#include "report/result_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "report/escape.h"

namespace tare {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: 0.2rem 0.7rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; }
)";

/// Three digits that mean something: 0.0436, 1.53, 20.1.
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

constexpr std::string_view kLegend =
    "Mean and standard deviation over repeats; in brackets the paper's figures. "
    "'perfect' is what a perfect forecaster would score on as many test rows.";

/// The cases' tables, and the one over all of them.
std::vector<const SummaryTable*> tables_of(const Summary& summary) {
  std::vector<const SummaryTable*> tables;
  for (const SummaryTable& table : summary.tables) tables.push_back(&table);
  if (summary.overall) tables.push_back(&*summary.overall);
  return tables;
}

}  // namespace

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

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<div class=\"wide\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "<tr>";
    const char* tag = i == 0 ? "th" : "td";
    for (const std::string& cell : rows[i])
      text += fmt::format("<{0}>{1}</{0}>", tag, escape_xml(cell));
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n<h1>{0}</h1>\n{2}</html>\n",
      escape_xml(title), kStyle, body);
}

std::string results_markdown(const Summary& summary, const std::string& provenance) {
  std::string text = fmt::format("# {}\n\n{}\n\n{}\n", summary.title, provenance, kLegend);
  for (const SummaryTable* table : tables_of(summary)) {
    text += fmt::format("\n## {}\n\n{}", table->case_name, markdown_table(result_cells(*table)));
  }
  return text;
}

std::string results_html(const Summary& summary, const std::string& provenance,
                         const std::string& figure) {
  std::string body =
      fmt::format("<p>{}</p>\n<p>{}</p>\n", escape_xml(provenance), escape_xml(kLegend));
  if (!figure.empty()) body += fmt::format("<div class=\"wide\">\n{}</div>\n", figure);
  for (const SummaryTable* table : tables_of(summary)) {
    body += fmt::format("<h2>{}</h2>\n{}", escape_xml(table->case_name),
                        html_table(result_cells(*table)));
  }
  return html_page(summary.title, body);
}

}  // namespace tare
