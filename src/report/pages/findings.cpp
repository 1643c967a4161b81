// SPDX-License-Identifier: BSD-3-Clause
#include "report/pages/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "report/figures/slice_figures.h"
#include "report/html/numbers.h"

namespace tare {
namespace {

Finding coverage_finding(const ModelReport& report) {
  const Slice& all = report.overall;
  std::string seen = fmt::format("90 % intervals cover {} of {} (in brackets: 95 % interval).",
                                 percent_text(all.coverage, all.coverage_low, all.coverage_high),
                                 rows_text(all.rows));
  if (all.on_end > 0) {
    seen += fmt::format(
        " {} of the targets equal an end of their interval (ties); a tie counts by the share of "
        "its jump that is inside. With ties counted as inside, coverage is {}.",
        percent_text(static_cast<double>(all.on_end) / static_cast<double>(all.rows)),
        percent_text(all.counted));
  }
  if (covers_too_little(all)) {
    return {
        false, "intervals are too short.",
        seen + " Fit again with rows like these, or add a guarantee (`fit --guarantee split`)."};
  }
  if (covers_too_much(all)) {
    return {false, "intervals are wider than needed.",
            seen + " Only sharpness is lost; more calibration rows make them narrower."};
  }
  return {true, "coverage on average.", seen};
}

Finding curve_finding(const ReliabilityCurve& curve) {
  if (curve.largest <= curve.reach) {
    return {true, "levels on average.",
            fmt::format("Over all rows no quantile is off by more than {}; a perfect model can be "
                        "off by up to {} by chance.",
                        percent_text(curve.largest), percent_text(curve.reach))};
  }
  return {
      false, "levels on average.",
      fmt::format(
          "The share of rows below the {:.2f} quantile is off by {}; chance explains at most {}.",
          curve.largest_at, percent_text(curve.largest), percent_text(curve.reach))};
}

Finding region_finding(const ModelReport& report) {
  const RegionSearch& search = report.regions;
  if (search.found == 0) {
    return {
        true, "no region stands out.",
        fmt::format("{} tests over ranges, categories and pairs of columns found nothing beyond "
                    "chance.",
                    count_text(search.looked_at))};
  }
  const Region& worst = search.worst.front();
  return {
      false, "calibration varies between regions.",
      fmt::format("Worst: {} ({}): {}, {} observed where {} is nominal{}.",
                  region_text(worst, report.columns), rows_text(worst.rows), region_fault(worst),
                  percent_text(worst.share), percent_text(nominal_share(worst.event)),
                  worst.sure_error > 0.0 ? "; off by at least " + percent_text(worst.sure_error) +
                                               ", after the correction for all regions"
                                         : "")};
}

void add_support_findings(const ModelReport& report, const Outcomes& outcomes,
                          std::vector<Finding>& findings) {
  const auto rows = static_cast<double>(outcomes.rows());
  if (std::isinf(report.scores.at("length_90"))) {
    findings.push_back(
        {false, "infinite intervals.",
         "Some 90 % intervals are infinite: there are too few rows for a finite bound at these "
         "levels. With a guarantee, hold out more rows (`fit --guarantee split:0.3`)."});
  }
  if (outcomes.knows_outside) {
    const double share = static_cast<double>(outcomes.outside_rows) / rows;
    const bool many = share > 0.05 && outcomes.outside_rows > 3;
    findings.push_back({!many,
                        many ? "rows unlike those of the fit." : "rows like those of the fit.",
                        fmt::format("{} of the rows are farther from their nearest calibration row "
                                    "than 99 % of the calibration rows are from each other{}.",
                                    percent_text(share),
                                    many ? "; their answers are extrapolated. Fit again with such "
                                           "rows, or see `fit --shift-to`"
                                         : "")});
  }
  for (const PredictionWarning& warning : report.warnings) {
    // An infinite answer has a finding of its own.
    const bool beyond = warning.code == WarningCode::kBeyondKeptLevels;
    if (!beyond && warning.code != WarningCode::kFallback) continue;
    findings.push_back({false, beyond ? "levels beyond the guarantee." : "rows without neighbours.",
                        warning.text});
  }
  if (report.series) {
    findings.push_back(
        {false, "a series.",
         "Rows follow each other in time, and their errors are correlated. The bands and tests on "
         "this page assume independent rows, so they raise too many alarms."});
  }
}

}  // namespace

std::vector<Finding> report_findings(const ModelReport& report, const Outcomes& outcomes) {
  std::vector<Finding> findings = {coverage_finding(report), curve_finding(report.curve),
                                   region_finding(report)};
  if (outcomes.rows() < 100) {
    findings.push_back(
        {false, "few test rows.",
         fmt::format("{} can show only large errors, so error bars and bands are wide.",
                     rows_text(outcomes.rows()))});
  }
  add_support_findings(report, outcomes, findings);
  return findings;
}

std::vector<Tile> report_tiles(const ModelReport& report) {
  const Scores& s = report.scores;
  std::vector<Tile> tiles = {
      {"Test rows", count_text(s.rows), report.data_name},
      {"90 % interval covers", percent_text(s.at("coverage_90")),
       fmt::format("95 % interval {:.1f} to {:.1f} %", 100.0 * report.overall.coverage_low,
                   100.0 * report.overall.coverage_high)},
      {"Its median width", number_text(report.overall.width), "in units of " + report.target},
      {"MACE", fmt::format("{:.3g}", s.at("mace")),
       fmt::format("a perfect model: {:.3g}", s.at("mace_floor"))},
      {"CheckScore", number_text(s.at("check_score")), "smaller is better; for comparisons"}};
  if (const auto effective_n = s.find("effective_n_median")) {
    tiles.push_back(
        {"effective_n", number_text(*effective_n), "median effective sample size of an answer"});
  }
  return tiles;
}

Cells metric_cells(const Scores& s) {
  Cells rows = {{"metric", "value", "perfect model", "what it is"}};
  const bool ties = s.at("hit_share") > 0.0;
  const auto add = [&](const ScoreInfo& info, double value) {
    std::string perfect(info.perfect);
    const bool named = !perfect.empty() && !parse_number(perfect);
    rows.push_back(
        {std::string(info.title),
         info.is_count ? count_text(static_cast<std::size_t>(value)) : number_text(value),
         named ? number_text(s.at(perfect)) : perfect,
         std::isinf(value)
             ? "infinite, because a quantile is infinite: too few rows for a finite bound"
             : std::string(info.meaning)});
  };
  for (const ScoreRole role : {ScoreRole::kScore, ScoreRole::kWithTies}) {
    if (role == ScoreRole::kWithTies && !ties) continue;
    for (std::size_t k = 0; k < s.values.size(); ++k) {
      const ScoreInfo& info = score_table()[k];
      if (info.role == role && !info.title.empty() && s.values[k]) add(info, *s.values[k]);
    }
  }
  return rows;
}

}  // namespace tare
