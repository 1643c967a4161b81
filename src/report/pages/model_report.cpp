// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/figures/calibration_figures.h"
#include "report/figures/cost_figures.h"
#include "report/figures/row_figures.h"
#include "report/figures/set_figures.h"
#include "report/figures/slice_figures.h"
#include "report/html/numbers.h"
#include "report/html/page.h"
#include "report/pages/findings.h"

namespace tare {
namespace {

/// The calibration error of a column's slices: the largest distance of an error bar from 90 %,
/// negative if every bar contains 90 %.
double column_error(const std::vector<Slice>& slices) {
  double worst = -1.0;
  for (const Slice& s : slices) {
    const double low = s.coverage_low - Outcomes::kConfidence;
    const double high = Outcomes::kConfidence - s.coverage_high;
    worst = std::max({worst, low, high});
  }
  return worst;
}

/// The columns that are drawn: all that have several slices, or the worst of them, in their own
/// order.
std::vector<std::size_t> drawn_columns(const ModelReport& report) {
  std::vector<std::size_t> order(report.columns.size());
  for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
  std::erase_if(order, [&](std::size_t j) { return report.slices[j].size() < 2; });
  if (order.size() <= kDrawnColumns) return order;
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::size_t j) { return column_error(report.slices[j]); });
  order.resize(kDrawnColumns);
  std::ranges::sort(order);
  return order;
}

Cells column_list(const ModelReport& report) {
  Cells rows = {{"column", "slices", "least covered", "%", "most covered", "%"}};
  const auto name = [](const Slice& s) {
    return s.part.name.empty() ? number_text(s.part.from) + " to " + number_text(s.part.to)
                               : s.part.name;
  };
  for (std::size_t j = 0; j < report.columns.size(); ++j) {
    const auto [least, most] = std::ranges::minmax_element(report.slices[j], {}, &Slice::coverage);
    rows.push_back({report.columns[j].name, count_text(report.slices[j].size()), name(*least),
                    fmt::format("{:.1f}", 100.0 * least->coverage), name(*most),
                    fmt::format("{:.1f}", 100.0 * most->coverage)});
  }
  return rows;
}

std::string slices_body(const ModelReport& report) {
  const std::vector<std::size_t> drawn = drawn_columns(report);
  std::vector<Card> cards;
  for (const std::size_t j : drawn) {
    cards.push_back(column_card(report.columns[j], report.slices[j]));
  }
  std::string body = paragraph(
      "A model can be calibrated on average and wrong in some regions. Each column is cut into "
      "slices with about equal numbers of rows. Dots show the coverage of a slice and the median "
      "width of its intervals, with 95 % error bars. Orange: the error bar does not contain 90 %. "
      "Brackets in texts hold the ends of 95 % intervals. The width of intervals may differ "
      "between slices; that is the purpose of local calibration. Coverage should be 90 % "
      "everywhere.");
  if (report.overall.on_end > 0) {
    body += paragraph(
        "A target that equals an end of its interval (a tie) counts as covered by the share of its "
        "jump that is inside. Correct intervals of counts then cover 90 %, not more.");
  }
  std::vector<std::string> whole;
  for (std::size_t j = 0; j < report.columns.size(); ++j) {
    if (report.slices[j].size() < 2) whole.push_back(report.columns[j].name);
  }
  if (drawn.size() + whole.size() < report.columns.size()) {
    body += paragraph(fmt::format("Of {} columns the {} with the largest errors are drawn.",
                                  count_text(report.columns.size()), drawn.size()));
  }
  if (!whole.empty()) {
    body += paragraph("Not cut, because all rows have one value or there are too few rows: " +
                      join(whole, ", ") + ".");
  }
  body += cards_html(cards, CardOrder::kStacked);
  if (drawn.size() < report.columns.size()) {
    body += fmt::format("<details><summary>All {} columns</summary>\n{}</details>\n",
                        report.columns.size(), html_table(column_list(report), "All columns"));
  }
  return body;
}

std::vector<std::string> summary_row(const std::string& name, std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return number_text(
        values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]);
  };
  return {name, at(0.0), at(0.05), at(0.5), at(0.95), at(1.0)};
}

std::string data_body(const ModelReport& report, const Outcomes& outcomes) {
  Cells numbers = {{"column", "smallest", "5 %", "median", "95 %", "largest"}};
  numbers.push_back(summary_row(report.target + " (target)", outcomes.y));
  Cells names = {{"column", "values", "most frequent", "share of it"}};
  for (const ReportColumn& column : report.columns) {
    if (column.origin == ColumnOrigin::kDerived) continue;
    if (!column.categorical) {
      numbers.push_back(summary_row(column.name, column.numbers));
      continue;
    }
    std::vector<std::size_t> rows(column.names.size(), 0);
    for (const std::uint32_t code : column.codes) ++rows[code];
    const auto most = std::ranges::max_element(rows);
    names.push_back(
        {column.name, count_text(column.names.size()),
         column.names[static_cast<std::size_t>(most - rows.begin())],
         percent_text(static_cast<double>(*most) / static_cast<double>(column.codes.size()))});
  }
  std::string body = facts_html(report.data, "The test rows");
  body += html_table(numbers, "Columns of numbers");
  if (names.size() > 1) body += html_table(names, "Columns of names");
  return box_html(body);
}

std::string choice_body(const ModelReport& report) {
  std::vector<Card> cards;
  if (!report.bandwidth.path.empty()) {
    cards.push_back(
        bandwidth_card(report.bandwidth, report.of_first_fold ? " of the first fold's model" : ""));
  }
  if (report.trail) cards.push_back(trail_card(*report.trail));
  if (cards.size() == 1) cards[0].full_width = true;
  return cards_html(cards);
}

std::vector<Section> sections_of(const ModelReport& report, const Outcomes& outcomes) {
  std::vector<Section> sections;
  sections.push_back(
      {"average", "Over all rows",
       cards_html({reliability_card(report.curve, report.guaranteed), pit_card(report.scores)})});
  sections.push_back({"worst", "Where calibration is worst",
                      cards_html({worst_regions_card(report.regions, report.columns)})});
  sections.push_back({"columns", "Along features and groups", slices_body(report)});
  std::vector<Card> rows = {intervals_card(outcomes, report.target)};
  if (report.sets) rows.push_back(sets_card(*report.sets, report.target));
  if (!outcomes.effective_n.empty()) rows.push_back(effective_n_card(outcomes));
  if (rows.size() == 1) rows[0].full_width = true;
  sections.push_back({"rows", "Row by row", cards_html(rows)});
  if (report.worth) {
    Card card = cost_card(*report.worth);
    card.full_width = true;
    sections.push_back({"worth", "What calibration is worth", cards_html({card})});
  }
  if (!report.bandwidth.path.empty() || report.trail) {
    sections.push_back({"choice", "How the model was chosen", choice_body(report)});
  }
  sections.push_back(
      {"metrics", "Metrics",
       box_html(html_table(metric_cells(report.scores), "Metrics", CellKind::kWords))});
  sections.push_back({"data", "The test rows", data_body(report, outcomes)});
  sections.push_back({"model", "The model", box_html(facts_html(report.model, "The model"))});
  return sections;
}

}  // namespace

ModelReport examine_rows(const Examination& exam, std::vector<ReportColumn> columns, Seed seed) {
  const Outcomes& outcomes = exam.outcomes();
  ModelReport report;
  report.scores = exam.scores(seed);
  report.curve = exam.reliability();
  const Cut whole = cut_numbers(std::vector<double>(outcomes.rows(), 0.0), 1);
  report.overall = tally_slices(whole, outcomes).front();
  for (const ReportColumn& column : columns) {
    report.slices.push_back(tally_slices(cut_column(column), outcomes));
  }
  report.regions = find_worst_regions(columns, outcomes);
  report.warnings = exam.warnings();
  report.columns = std::move(columns);
  return report;
}

std::string model_report_html(const ModelReport& report, const Outcomes& outcomes) {
  Page page;
  page.title = fmt::format("How far {} can be trusted", report.model_name);
  page.provenance = report.provenance;
  page.lead = tiles_html(report_tiles(report)) + "<h2>In short</h2>\n" +
              findings_html(report_findings(report, outcomes));
  page.sections = sections_of(report, outcomes);
  return page_html(page);
}

}  // namespace tare
