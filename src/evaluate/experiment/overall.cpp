// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/overall.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "evaluate/experiment/runner.h"

namespace tare {
namespace {

/// The ICE of a repeat, added up over problems, for one number of rows.
struct RepeatSum {
  std::size_t problems = 0;
  double ice = 0.0;
};

/// What one method, with its options, did in all cases.
struct MethodRecord {
  std::map<std::size_t, std::map<std::size_t, RepeatSum>> sums;  // by rows, then by repeat
  double seconds = 0.0;
  std::size_t trials = 0;
};

using Records = std::map<std::pair<std::string, std::string>, MethodRecord>;

Records collect(const ExperimentPlan& plan, const Results& results) {
  std::map<std::string, std::size_t> rows_of;
  for (const ExperimentCase& one : plan.cases) rows_of[one.name] = one.rows;
  Records records;
  for (const TrialKey& key : trial_keys(plan)) {
    const auto found = results.find(key);
    if (found == results.end()) continue;
    MethodRecord& record = records[{key.method, key.options}];
    record.seconds += found->second.seconds;
    ++record.trials;
    for (const MetricValue& one : found->second.values) {
      if (one.metric != "ICE") continue;
      RepeatSum& sum = record.sums[rows_of[key.case_name]][key.repeat];
      ++sum.problems;
      sum.ice += one.value;
    }
  }
  return records;
}

SummaryCell cell_for(const MethodRecord& record, std::size_t rows, std::size_t problems) {
  std::vector<double> means;
  const auto found = record.sums.find(rows);
  if (found == record.sums.end()) return {};
  for (const auto& [repeat, sum] : found->second) {
    if (sum.problems == problems) means.push_back(sum.ice / static_cast<double>(problems));
  }
  return summary_cell(means);
}

}  // namespace

std::optional<SummaryTable> overall_table(const ExperimentPlan& plan, const Results& results) {
  std::map<std::size_t, std::size_t> problems;  // how many, for each number of rows
  for (const ExperimentCase& one : plan.cases) {
    if (one.test != TestRows::kLaw) return std::nullopt;
    ++problems[one.rows];
  }
  if (plan.cases.size() < 2) return std::nullopt;

  SummaryTable table;
  table.case_name = "All problems";
  for (const auto& [rows, count] : problems) {
    table.metrics.push_back(fmt::format("mean ICE of {}, n = {}", count, rows));
    table.floors.emplace_back(0.0);
  }
  for (const auto& [name, record] : collect(plan, results)) {
    SummaryRow row{name.first, name.second, {}, 0.0};
    for (const auto& [rows, count] : problems) row.cells.push_back(cell_for(record, rows, count));
    row.seconds = record.seconds / static_cast<double>(record.trials);
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return std::nullopt;
  sort_as_in_plan(plan, table.rows);
  return table;
}

}  // namespace tare
