// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/contest_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/strings.h"
#include "report/figures/row_chart.h"
#include "report/html/numbers.h"
#include "report/html/result_tables.h"

namespace tare {
namespace {

constexpr const char* kContestLegend =
    "Mean ± standard deviation over splits. 'perfect' is the mean score of a perfect forecaster on "
    "as many test rows.";
constexpr const char* kSecondMetric = "MACE";  // beside the ranking: the paper's first

std::string method_name(const std::string& method, const std::string& options) {
  return options.empty() ? method : method + " " + options;
}

bool has_interval(const RankedMethod& row) { return std::isfinite(row.behind_low); }

std::string standing(const RankedMethod& row, bool best) {
  if (best) return "best";
  return !has_interval(row) ? "unknown" : row.tied ? "tied with the best" : "behind";
}

std::string p_text(double p) { return p < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", p); }

NamedValue ranking_row(const RankedMethod& row, bool best) {
  NamedValue value{method_name(row.method, row.options), row.behind, row.behind, row.behind,
                   row.tied ? Ink::kBlue : Ink::kOrange};
  const bool bar = !best && has_interval(row);
  if (bar) {
    value.low = row.behind_low;
    value.high = row.behind_high;
  }
  value.tip = fmt::format("{}: {}\nscore {}, {} behind{}", value.name, standing(row, best),
                          number_text(row.score), number_text(row.behind),
                          bar ? fmt::format("\n95 % interval {} to {}", number_text(row.behind_low),
                                            number_text(row.behind_high))
                              : "");
  return value;
}

std::string ranking_words(const CaseRanking& ranking) {
  const auto& methods = ranking.methods;
  if (methods.size() < 2) return "There is no other method to compare with.";
  if (!has_interval(methods[1])) {
    return "One repeat gives no interval: methods cannot be distinguished. Run more repeats "
           "(`--repeats 10`).";
  }
  const auto tied = static_cast<std::size_t>(
      std::ranges::count_if(methods, [](const RankedMethod& row) { return row.tied; }));
  if (tied == 1) {
    return fmt::format(
        "{} is better than every other method by more than chance, in each comparison separately.",
        method_name(methods[0].method, methods[0].options));
  }
  return fmt::format(
      "{} of {} cannot be distinguished from the best (blue): choose among them by speed or "
      "simplicity, or run more repeats.",
      tied, methods.size());
}

std::optional<std::size_t> metric_index(const SummaryTable& table, const std::string& metric) {
  const auto found = std::ranges::find(table.metrics, metric);
  if (found == table.metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.metrics.begin());
}

NamedValue metric_row(const std::string& name, double mean, double sd, Ink ink) {
  const double reach = std::isfinite(sd) ? sd : 0.0;
  return {name,
          mean,
          mean - reach,
          mean + reach,
          ink,
          fmt::format("{}: {}{}", name, number_text(mean),
                      reach > 0.0 ? " ± " + number_text(reach) : "")};
}

std::string metric_words(const std::string& metric, const std::optional<double>& floor) {
  if (metric == "Coverage") {
    return "Share of test rows inside their 90 % interval; 0.9 is nominal. A tie with an end "
           "counts by the share of its jump that is inside.";
  }
  if (metric == "Length") {
    return "Mean width of the 90 % interval; shorter is better only among methods that cover 90 %.";
  }
  if (metric == "ICE") {
    return "Individual calibration error: the mean distance between the level of a quantile and "
           "the true probability below it, at each row. 0 is perfect; there is no noise floor.";
  }
  const std::string below = floor ? fmt::format(
                                        " A perfect model scores {} on as many test rows (dashed); "
                                        "differences below that mean nothing.",
                                        number_text(*floor))
                                  : "";
  if (metric == "MACE") return "Mean distance between observed and nominal levels." + below;
  return "Smaller is better." + below;
}

}  // namespace

std::string comparisons_text(const std::vector<RankedMethod>& methods, std::size_t comparisons) {
  if (comparisons == 0) return {};
  std::vector<std::string> surviving;
  for (const RankedMethod& row : methods) {
    if (row.survives()) surviving.push_back(method_name(row.method, row.options));
  }
  const std::string seen =
      comparisons == 1
          ? std::string("One pair of methods was compared.")
          : fmt::format("{} pairs of methods were compared; each interval is for one comparison.",
                        count_text(comparisons));
  if (surviving.empty()) {
    return seen +
           " After Holm's correction for all of them (5 %) no method can be distinguished from the "
           "best.";
  }
  return fmt::format(
      "{} After Holm's correction for all of them (5 %) the best is still better than "
      "{} of {}: {}.",
      seen, surviving.size(), methods.size() - 1, join(surviving, ", "));
}

Card ranking_card(const CaseRanking& ranking) {
  std::vector<NamedValue> rows;
  Cells table = {
      {"method", ranking.metric, "behind", "95 % from", "to", "", "p, corrected", "repeats"}};
  for (const RankedMethod& row : ranking.methods) {
    const bool best = &row == ranking.methods.data();
    const bool bar = !best && has_interval(row);
    rows.push_back(ranking_row(row, best));
    table.push_back({rows.back().name, number_text(row.score), number_text(row.behind),
                     bar ? number_text(row.behind_low) : "",
                     bar ? number_text(row.behind_high) : "", standing(row, best),
                     bar ? p_text(row.adjusted) : "", count_text(row.repeats)});
  }
  return {
      .title = fmt::format("Ranking by {}", ranking.metric),
      .pictures = row_chart(
          {.label = fmt::format("{}: difference of each method from the best, with 95 % intervals",
                                ranking.case_name),
           .x_label = ranking.metric + " behind the best",
           .marks = {0.0}},
          rows),
      .words = {fmt::format("By how much each method's {} is worse than the best, paired by "
                            "repeat, with a 95 % interval that allows for the rows that repeats "
                            "share. If the interval contains 0, chance can explain the difference.",
                            ranking.metric),
                ranking_words(ranking), comparisons_text(ranking.methods, ranking.comparisons)},
      .table = std::move(table)};
}

Card metric_card(const SummaryTable& table, const std::string& metric) {
  const auto index = metric_index(table, metric);
  if (!index) return {};
  const std::optional<double> floor = table.floors.at(*index);
  std::vector<NamedValue> rows;
  Cells cells = {{"method", metric, "sd over repeats", "paper", "its sd"}};
  bool paper = false;
  for (const SummaryRow& row : table.rows) {
    const SummaryCell& cell = row.cells.at(*index);
    const std::string name = method_name(row.method, row.options);
    if (cell.count > 0) rows.push_back(metric_row(name, cell.mean, cell.sd, Ink::kBlue));
    if (cell.paper_mean) {
      rows.push_back(
          metric_row("the paper's", *cell.paper_mean, cell.paper_sd.value_or(0.0), Ink::kGrey));
      paper = true;
    }
    cells.push_back({name, cell.count > 0 ? number_text(cell.mean) : "-",
                     cell.count > 1 ? number_text(cell.sd) : "",
                     cell.paper_mean ? number_text(*cell.paper_mean) : "",
                     cell.paper_sd ? number_text(*cell.paper_sd) : ""});
  }
  RowChartOptions options{
      .label = fmt::format("{}: {} of each method{}", table.case_name, metric,
                           paper ? ", and the paper's below it" : ""),
      .x_label = metric + (metric == "Coverage" ? "; dashed: 0.9, nominal" : "")};
  if (metric == "Coverage") {
    options.marks = {0.9};
  } else {
    options.reached = {0.0};
    if (floor && *floor > 0.0) options.marks = {*floor};
  }
  return {.title = metric,
          .pictures = row_chart(options, rows),
          .words = {metric_words(metric, floor) + " Bars are one standard deviation over repeats." +
                    (paper ? " Grey: the paper's figure." : "")},
          .table = std::move(cells)};
}

std::string results_html(const Summary& summary, const std::string& provenance,
                         const std::string& figure, const std::vector<CaseRanking>& rankings) {
  Page page{summary.title, provenance, paragraph(kResultsLegend), {}};
  if (!figure.empty()) {
    page.lead += box_html(fmt::format(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Figure\">\n{}</div>\n",
        figure));
  }
  for (const SummaryTable* table : all_tables(summary)) {
    std::string body = box_html(html_table(result_cells(*table), table->case_name));
    const auto ranking = std::ranges::find(rankings, table->case_name, &CaseRanking::case_name);
    if (ranking != rankings.end() && !ranking->methods.empty()) {
      body += cards_html({ranking_card(*ranking), metric_card(*table, kSecondMetric)});
    }
    page.sections.push_back(
        {fmt::format("case{}", page.sections.size() + 1), table->case_name, std::move(body)});
  }
  return page_html(page);
}

std::string contest_html(const ContestReport& report) {
  const auto& methods = report.ranking.methods;
  Page page{report.title, report.provenance, {}, {}};
  page.lead = tiles_html({{"Methods", count_text(methods.size()), "on the same splits"},
                          {"Random splits", count_text(report.repeats),
                           fmt::format("{:.0f} % of the rows test", 100.0 * report.test_share)},
                          {"Best", methods.front().method,
                           fmt::format("CheckScore {}", number_text(methods.front().score))}});
  Card ranking = ranking_card(report.ranking);
  ranking.full_width = true;
  page.sections.push_back({"ranking", "Which is best", cards_html({ranking})});
  std::vector<Card> cards;
  for (const char* metric : {"MACE", "Coverage", "Length", "AGCE"}) {
    Card card = metric_card(report.table, metric);
    if (!card.pictures.empty()) cards.push_back(std::move(card));
  }
  page.sections.push_back({"metrics", "Metric by metric", cards_html(cards)});
  page.sections.push_back({"table", "All figures",
                           box_html(paragraph(kContestLegend) +
                                    html_table(result_cells(report.table), "All figures"))});
  if (!report.failed.empty()) {
    std::string body;
    for (const std::string& text : report.failed) body += paragraph(text);
    page.sections.push_back({"failed", "What could not be fitted", box_html(body)});
  }
  return page_html(page);
}

}  // namespace tare
