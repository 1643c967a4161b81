// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/experiment/plan.h"
#include "evaluate/experiment/result_file.h"

namespace tare {

/// Mean and standard deviation of a metric over repeats, ours and the paper's. `count` is 0 where
/// there is no result; the deviation is NaN for a single one.
struct SummaryCell {
  std::size_t count = 0;
  double mean = 0.0;
  double sd = 0.0;
  std::optional<double> paper_mean;
  std::optional<double> paper_sd;
};

struct SummaryRow {
  std::string method;
  std::string options;
  std::vector<SummaryCell> cells;         // one for each metric
  double seconds = 0.0;                   // of a trial, on average
  std::vector<MetricValue> counted = {};  // means of metrics with ties counted as below
};

/// The results of one case.
struct SummaryTable {
  std::string case_name;
  std::vector<std::string> metrics;
  std::vector<std::optional<double>>
      floors;  // what a perfect forecaster scores, where that is known
  std::vector<SummaryRow> rows;
};

struct Summary {
  std::string title;
  std::vector<SummaryTable> tables;
  std::optional<SummaryTable> overall;  // see overall_table()
};

/// The results of a plan's trials; cases without any are left out. Metrics are the paper's five,
/// and those of known-law problems if there are any.
/// A perfect forecaster scores 0 on the latter.
Summary summarise(const ExperimentPlan& plan, const Results& results);

/// Mean and standard deviation of a metric's values, one for each repeat.
SummaryCell summary_cell(const std::vector<double>& values);

}  // namespace tare
