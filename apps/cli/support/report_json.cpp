// SPDX-License-Identifier: BSD-3-Clause
#include "support/report_json.h"

#include "report/figures/slice_figures.h"
#include "report/pages/findings.h"
#include "support/warning_text.h"

namespace tare::cli {
namespace {

using ReportJson = nlohmann::ordered_json;

ReportJson region_json(const Region& region, const ModelReport& report) {
  return {{"where", region_text(region, report.columns)},
          {"event", region.event == CalibrationEvent::kCovered ? "in the 90 % interval"
                                                               : "below the median"},
          {"rows", region.rows},
          {"share", region.share},
          {"wanted", nominal_share(region.event)},
          {"low", region.low},
          {"high", region.high},
          {"p", region.p},
          {"p_corrected", region.adjusted},
          {"surely_off_by", region.sure_error}};
}

ReportJson slice_json(const Slice& slice, bool categorical) {
  ReportJson json;
  if (categorical) {
    json["value"] = slice.part.name;
  } else {
    json["from"] = slice.part.from;
    json["to"] = slice.part.to;
  }
  json["rows"] = slice.rows;
  json["below"] = slice.below;
  json["above"] = slice.above;
  json["at_an_end"] = slice.on_end;
  json["coverage"] = slice.coverage;
  json["coverage_counted"] = slice.counted;
  json["coverage_low"] = slice.coverage_low;
  json["coverage_high"] = slice.coverage_high;
  json["width"] = slice.width;
  json["width_low"] = slice.width_low;
  json["width_high"] = slice.width_high;
  return json;
}

ReportJson column_json(const ReportColumn& column, const std::vector<Slice>& slices) {
  ReportJson json = {{"column", column.name},
                     {"kind", column.origin == ColumnOrigin::kFeature ? "feature"
                              : column.origin == ColumnOrigin::kGroup ? "group"
                                                                      : "derived"},
                     {"slices", ReportJson::array()}};
  for (const Slice& slice : slices) json["slices"].push_back(slice_json(slice, column.categorical));
  return json;
}

}  // namespace

ReportJson scores_json(const Scores& s) {
  ReportJson json;
  json["rows"] = s.rows;
  for (std::size_t k = 0; k < s.values.size(); ++k) {
    const ScoreInfo& info = score_table()[k];
    ReportJson& value = json[std::string(info.name)];
    if (!s.values[k]) continue;  // null
    value = info.is_count ? ReportJson(static_cast<std::size_t>(*s.values[k]))
                          : ReportJson(*s.values[k]);
  }
  json["pit"] = s.pit;
  return json;
}

ReportJson worth_json(const CostComparison& worth) {
  ReportJson json = {{"costs", worth.costs}, {"rows", worth.rows}, {"expected", worth.expected}};
  const auto add = [&](const char* name, const RuleCost& rule) {
    json[name] = {{"cost", rule.mean},
                  {"error", rule.error},
                  {"more_than_action", rule.extra},
                  {"more_error", rule.extra_error}};
  };
  add("action", worth.action);
  add("mean", worth.mean);
  add("mean_plus_margin", worth.margin);
  json["margin"] = {worth.margin_low, worth.margin_high};
  return json;
}

ReportJson sets_json(const SetComparison& sets) {
  return {{"confidence", 0.9},
          {"rows", sets.rows},
          {"guaranteed", sets.guaranteed},
          {"shortest",
           {{"coverage", sets.coverage}, {"length", sets.length}, {"two_parts", sets.two_parts}}},
          {"central", {{"coverage", sets.central_coverage}, {"length", sets.central_length}}}};
}

ReportJson report_json(const ModelReport& report, const Outcomes& outcomes) {
  ReportJson json;
  json["scores"] = scores_json(report.scores);
  json["findings"] = ReportJson::array();
  for (const Finding& finding : report_findings(report, outcomes)) {
    json["findings"].push_back(
        {{"fine", finding.fine}, {"text", finding.head + " " + finding.text}});
  }
  json["warnings"] = warnings_json(report.warnings);
  if (report.worth) json["worth"] = worth_json(*report.worth);
  if (report.sets) json["sets"] = sets_json(*report.sets);
  json["looked_at"] = report.regions.looked_at;
  json["found"] = report.regions.found;
  json["worst"] = ReportJson::array();
  for (const Region& region : report.regions.worst)
    json["worst"].push_back(region_json(region, report));
  json["columns"] = ReportJson::array();
  for (std::size_t j = 0; j < report.columns.size(); ++j) {
    json["columns"].push_back(column_json(report.columns[j], report.slices[j]));
  }
  return json;
}

}  // namespace tare::cli
