// SPDX-License-Identifier: BSD-3-Clause
#include "commands/reproduce_failures.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/reproduce_theory.h"
#include "evaluate/experiment/study/failures.h"
#include "io/csv.h"
#include "report/html/page.h"
#include "report/html/result_tables.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/base/version.h"

namespace tare::cli {
namespace {

constexpr Seed kFailureSeed{1};

std::vector<std::vector<std::string>> failure_cells(const FailureTable& table) {
  std::vector<std::vector<std::string>> rows = {table.heading};
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    rows.push_back({table.names[i]});
    for (const double value : table.values[i]) rows.back().push_back(fmt::format("{:.4g}", value));
  }
  return rows;
}

std::string failures_csv(const std::vector<FailureTable>& tables) {
  std::string text = "failure,row,quantity,value\n";
  for (const FailureTable& table : tables) {
    for (std::size_t i = 0; i < table.names.size(); ++i) {
      for (std::size_t j = 0; j < table.values[i].size(); ++j) {
        for (const std::string& cell : {table.title, table.names[i], table.heading[j + 1]}) {
          append_csv_cell(text, cell, ',');
          text += ',';
        }
        append_csv_number(text, table.values[i][j]);
        text += '\n';
      }
    }
  }
  return text;
}

}  // namespace

std::string run_reproduce_failures(const std::filesystem::path& folder, const Common& common) {
  const std::vector<FailureTable> tables = all_failures(kFailureSeed);
  const std::string title = "Where objectives over all rows fail";
  const std::string provenance =
      fmt::format("tare {}, `tare reproduce failures`, seed {}", kVersion, kFailureSeed.value);
  std::string markdown = fmt::format("# {}\n\n{}\n", title, provenance);
  Page page{title, provenance, {}, {}};
  nlohmann::ordered_json json;
  for (const FailureTable& table : tables) {
    const auto cells = failure_cells(table);
    markdown += fmt::format("\n## {}\n\n{}\n\n{}", table.title, table.words, markdown_table(cells));
    page.sections.push_back({fmt::format("failure{}", page.sections.size() + 1), table.title,
                             paragraph(table.words) + html_table(cells, table.title)});
    json.push_back({{"title", table.title},
                    {"heading", table.heading},
                    {"rows", table.names},
                    {"values", table.values}});
    if (!common.json) {
      say("\n{}\n{}\n\n{}", table.title, table.words, text_table(cells));
    }
  }
  write_result(folder / "failures.csv", failures_csv(tables));
  write_result(folder / "failures.md", markdown);
  std::string html = page_html(page);
  write_result(folder / "failures.html", html);
  if (common.json) fmt::print("{}\n", json.dump(2));
  return html;
}

}  // namespace tare::cli
