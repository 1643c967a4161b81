// SPDX-License-Identifier: BSD-3-Clause
#include "commands/reproduce_bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands/reproduce_theory.h"
#include "report/html/page.h"
#include "report/html/result_tables.h"
#include "support/bar.h"
#include "support/terminal.h"
#include "support/text_table.h"
#include "tare/base/version.h"

namespace tare::cli {
namespace {

using Cells = std::vector<std::vector<std::string>>;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string two_digits(double value) { return fmt::format("{:.2f}", value); }

Cells problem_cells(const std::vector<BandCell>& cells) {
  std::vector<std::string> heading = {"method", "rows", "problem"};
  for (const Level& level : band_study_levels())
    heading.push_back(fmt::format("{}", level.value()));
  for (const char* name : {"mean", "width", "effective_n"}) heading.emplace_back(name);
  Cells rows = {heading};
  for (const BandCell& cell : cells) {
    rows.push_back({cell.method, std::to_string(cell.rows), cell.problem});
    if (cell.held.empty()) {
      rows.back().resize(heading.size(), "no bands");
      continue;
    }
    for (const double held : cell.held) rows.back().push_back(two_digits(held));
    rows.back().push_back(two_digits(mean_of(cell.held)));
    rows.back().push_back(two_digits(mean_of(cell.width)));
    rows.back().push_back(fmt::format("{:.0f}", cell.effective_n));
  }
  return rows;
}

/// A method over all problems of one size.
struct MethodSummary {
  std::string method;
  std::size_t rows = 0;
  std::vector<double> held, width;  // of each problem, mean over levels

  double least_held() const { return std::ranges::min(held); }
};

std::vector<MethodSummary> summarise_methods(const std::vector<BandCell>& cells) {
  std::vector<MethodSummary> all;
  for (const BandCell& cell : cells) {
    const auto known = std::ranges::find_if(all, [&](const MethodSummary& one) {
      return one.method == cell.method && one.rows == cell.rows;
    });
    MethodSummary& own = known == all.end() ? all.emplace_back(cell.method, cell.rows) : *known;
    if (cell.held.empty()) continue;
    own.held.push_back(mean_of(cell.held));
    own.width.push_back(mean_of(cell.width));
  }
  return all;
}

Cells method_cells(const std::vector<MethodSummary>& summaries) {
  Cells rows = {
      {"method", "rows", "with bands", "held", "worst problem", "width", "narrowest", "widest"}};
  for (const MethodSummary& one : summaries) {
    if (one.held.empty()) continue;
    rows.push_back({one.method, std::to_string(one.rows), std::to_string(one.held.size()),
                    fmt::format("{:.3f}", mean_of(one.held)), two_digits(one.least_held()),
                    two_digits(mean_of(one.width)), two_digits(std::ranges::min(one.width)),
                    two_digits(std::ranges::max(one.width))});
  }
  return rows;
}

nlohmann::ordered_json to_json(const std::vector<BandCell>& cells) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const BandCell& cell : cells) {
    json.push_back({{"method", cell.method},
                    {"rows", cell.rows},
                    {"problem", cell.problem},
                    {"held", cell.held},
                    {"width", cell.width},
                    {"effective_n", cell.effective_n}});
  }
  return json;
}

constexpr const char* kWords =
    "The share of new rows whose 90 % band contains the true quantile, at five levels. Width is "
    "the width of the band divided by 2 x 1.645 root mean square errors of the method at that row, "
    "over new draws of the data: a band that knows the true error of the method has width 1. A "
    "method whose quantiles never take a value that many targets share has no bands.";

}  // namespace

std::string run_reproduce_bands(const BandStudy& study, const std::filesystem::path& folder,
                                const Common& common) {
  std::vector<BandCell> cells;
  {
    Bar bar(common);
    ResultFile results((folder / "bands.csv").string());
    cells = run_band_study(study, results, bar.execution());
  }
  const std::string title = "How often bands contain the true quantile";
  const std::string provenance = fmt::format(
      "tare {}, `tare reproduce bands`, {} draws for the true error, {} of them with bands, seed "
      "{}",
      kVersion, study.draws, std::min(study.fits, study.draws), study.seed.value);
  const Cells methods = method_cells(summarise_methods(cells));
  const Cells problems = problem_cells(cells);
  write_result(folder / "bands.md",
               fmt::format("# {}\n\n{}\n\n{}\n\n{}\n{}", title, provenance, kWords,
                           markdown_table(methods), markdown_table(problems)));
  Page page{title, provenance, {}, {}};
  page.sections.push_back(
      {"methods", "Methods", paragraph(kWords) + html_table(methods, "Methods")});
  page.sections.push_back({"problems", "Problems", html_table(problems, "Problems")});
  std::string html = page_html(page);
  write_result(folder / "bands.html", html);
  if (common.json) {
    fmt::print("{}\n", to_json(cells).dump(2));
  } else {
    say("\n{}\n\n{}\n{}", kWords, text_table(problems), text_table(methods));
  }
  note(common, fmt::format("results: {} (and .md, .html)", (folder / "bands.csv").string()));
  return html;
}

}  // namespace tare::cli
