// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/overall.h"

#include <fmt/format.h>

#include <map>

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

MethodRecord record_of(const ExperimentPlan& plan, const ExperimentMethod& method,
                       const Results& results) {
  MethodRecord record;
  for (const ExperimentCase& one : plan.cases) {
    for (std::size_t repeat = 0; repeat < plan.repeats; ++repeat) {
      const auto found = results.find(trial_key(plan, one, method, repeat));
      if (found == results.end()) continue;
      record.seconds += found->second.seconds;
      ++record.trials;
      for (const MetricValue& value : found->second.values) {
        if (value.metric != "ICE") continue;
        RepeatSum& sum = record.sums[one.rows][repeat];
        ++sum.problems;
        sum.ice += value.value;
      }
    }
  }
  return record;
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
  for (const ExperimentMethod& method : plan.methods) {
    const MethodRecord record = record_of(plan, method, results);
    if (record.trials == 0) continue;
    SummaryRow row{method.method, method.params.text(), {}, 0.0};
    for (const auto& [rows, count] : problems) row.cells.push_back(cell_for(record, rows, count));
    row.seconds = record.seconds / static_cast<double>(record.trials);
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) return std::nullopt;
  return table;
}

}  // namespace tare
