// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/cost_comparison.h"
#include "evaluate/examination.h"
#include "evaluate/report_columns.h"
#include "evaluate/set_comparison.h"
#include "evaluate/slices.h"
#include "evaluate/worst_regions.h"
#include "report/figures/choice_figures.h"
#include "tare/evaluate/scorecard.h"

namespace tare {

/// Facts as they are shown: what, and what it is.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The contents of a report about a model on test rows.
struct ModelReport {
  std::string model_name;  // of the file
  std::string data_name;
  std::string provenance;
  std::string target;
  bool series = false;      // rows follow each other in time
  bool guaranteed = false;  // the model has a finite-sample guarantee
  Facts model;
  Facts data;
  Scores scores;
  ReliabilityCurve curve;
  Slice overall;
  std::vector<ReportColumn> columns;
  std::vector<std::vector<Slice>> slices;  // of each column
  RegionSearch regions;
  std::vector<PredictionWarning> warnings;
  BandwidthChoice bandwidth;   // shown where its path is not empty
  bool of_first_fold = false;  // whose bandwidth it is
  std::optional<AutoTrail> trail;
  std::optional<CostComparison> worth;  // where costs were given
  std::optional<SetComparison> sets;    // where shortest sets were asked for
};

/// The parts that come from the rows: scores, curve, slices of every column, worst regions.
ModelReport examine_rows(const Examination& exam, std::vector<ReportColumn> columns, Seed seed);

/// One self-contained page.
std::string model_report_html(const ModelReport& report, const Outcomes& outcomes);

/// Number of columns with figures; the others are in a table.
inline constexpr std::size_t kDrawnColumns = 18;

}  // namespace tare
