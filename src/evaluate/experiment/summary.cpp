// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/strings.h"
#include "evaluate/experiment/embedded.h"
#include "evaluate/experiment/overall.h"
#include "evaluate/experiment/runner.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

const std::vector<std::string> kPaperMetrics = {"MACE", "AGCE", "CheckScore", "Length", "Coverage"};
const std::vector<std::string> kLawMetrics = {"ICE", "QuantileRMSE", "ExcessPinball"};

struct PaperFigure {
  std::optional<double> mean, sd;
};

/// (dataset, method, metric) to what the paper prints.
using PaperTable = std::map<std::array<std::string, 3>, PaperFigure>;

PaperTable read_paper_table(std::string_view name) {
  PaperTable table;
  for (const EmbeddedFile& file : embedded_paper_tables()) {
    if (file.name != name) continue;
    for (const std::string& line : split_text(file.text, '\n')) {
      const std::vector<std::string> cells = split_text(line, ',');
      if (cells.size() == 5) {
        table[{cells[0], cells[1], cells[2]}] = {parse_number(cells[3]), parse_number(cells[4])};
      }
    }
  }
  return table;
}

/// All values of a metric over the repeats of one row.
std::vector<double> values_of(const std::vector<const TrialResult*>& trials,
                              const std::string& metric) {
  std::vector<double> values;
  for (const TrialResult* trial : trials) {
    for (const MetricValue& one : trial->values) {
      if (one.metric == metric) values.push_back(one.value);
    }
  }
  return values;
}

std::vector<const TrialResult*> trials_of(const ExperimentPlan& plan, const ExperimentCase& one,
                                          const ExperimentMethod& method, const Results& results) {
  std::vector<const TrialResult*> trials;
  for (std::size_t repeat = 0; repeat < plan.repeats; ++repeat) {
    const auto found = results.find(trial_key(plan, one, method, repeat));
    if (found != results.end()) trials.push_back(&found->second);
  }
  return trials;
}

SummaryTable table_of(const ExperimentPlan& plan, const ExperimentCase& one, const Results& results,
                      const PaperTable& paper) {
  SummaryTable table;
  table.case_name = one.name;
  table.metrics = kPaperMetrics;
  if (one.test == TestRows::kLaw) {
    table.metrics.insert(table.metrics.begin(), kLawMetrics.begin(), kLawMetrics.end());
  }
  std::map<std::string, std::vector<double>> floors;
  for (const ExperimentMethod& method : plan.methods) {
    const std::vector<const TrialResult*> trials = trials_of(plan, one, method, results);
    if (trials.empty()) continue;
    SummaryRow row{method.method, method.params.text(), {}, 0.0, {}};
    const std::string spelling(find_method(method.method).paper);
    for (const std::string& metric : table.metrics) {
      SummaryCell cell = summary_cell(values_of(trials, metric));
      const auto printed = paper.find({one.name, spelling, metric});
      if (printed != paper.end()) {
        cell.paper_mean = printed->second.mean;
        cell.paper_sd = printed->second.sd;
      }
      row.cells.push_back(cell);
      // With ties each method has its own floor; the largest is conservative for all of them.
      const std::vector<double> floor = values_of(trials, metric + "_floor");
      const auto mean = [](const std::vector<double>& values) { return summary_cell(values).mean; };
      if (mean(floor) > mean(floors[metric])) floors[metric] = floor;
    }
    for (const char* metric : {"MACE_counted", "AGCE_counted", "Coverage_counted"}) {
      const SummaryCell cell = summary_cell(values_of(trials, metric));
      if (cell.count > 0) row.counted.push_back({metric, cell.mean});
    }
    for (const TrialResult* trial : trials) {
      row.seconds += trial->seconds / static_cast<double>(trials.size());
    }
    table.rows.push_back(std::move(row));
  }
  for (const std::string& metric : table.metrics) {
    const SummaryCell floor = summary_cell(floors[metric]);
    const bool of_law = std::ranges::find(kLawMetrics, metric) != kLawMetrics.end();
    table.floors.push_back(floor.count > 0 ? std::optional(floor.mean)
                           : of_law        ? std::optional(0.0)
                                           : std::nullopt);
  }
  return table;
}

}  // namespace

SummaryCell summary_cell(const std::vector<double>& values) {
  SummaryCell cell;
  cell.count = values.size();
  if (values.empty()) return cell;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) cell.mean += value / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - cell.mean) * (value - cell.mean);
  cell.sd = values.size() > 1 ? std::sqrt(squares / (count - 1.0))
                              : std::numeric_limits<double>::quiet_NaN();
  return cell;
}

Summary summarise(const ExperimentPlan& plan, const Results& results) {
  Summary summary;
  summary.title = plan.title;
  const PaperTable paper = read_paper_table(plan.paper);
  for (const ExperimentCase& one : plan.cases) {
    SummaryTable table = table_of(plan, one, results, paper);
    if (!table.rows.empty()) summary.tables.push_back(std::move(table));
  }
  summary.overall = overall_table(plan, results);
  return summary;
}

}  // namespace tare
