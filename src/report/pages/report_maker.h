// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apply/model_input.h"
#include "evaluate/cost_comparison.h"
#include "evaluate/examination.h"
#include "evaluate/report_columns.h"
#include "report/pages/model_report.h"

namespace tare {

/// Gathers what a report about a model shows, batch by batch as the test rows are read.
class ReportMaker {
 public:
  /// `groups` are columns of the test file by whose values rows are told apart; that of the model's
  /// guarantee is one of them anyway.
  ReportMaker(const FittedModel& fitted, std::string model_path, std::vector<std::string> groups);
  /// The page then says what the rows' distributions are worth in units of this cost. Before add().
  void compare_costs(const Cost& cost) { worth_.emplace(cost); }

  /// The page then has shortest sets beside central intervals. Before add().
  void compare_sets() { sets_.emplace(); }

  /// Columns that the input must keep as they are written.
  const std::vector<std::string>& groups() const noexcept { return groups_; }
  /// kNotFound where a group is not a column of the file.
  void check_groups(const ModelInput& input) const;

  void add(const ModelInput& input, const Execution& how);
  Scores scores(Seed seed) const { return exam_.scores(seed); }
  std::vector<PredictionWarning> warnings() const { return exam_.warnings(); }
  const Outcomes& outcomes() const noexcept { return exam_.outcomes(); }
  /// None without compare_costs().
  std::optional<CostComparison> worth(Seed seed) const;
  /// None without compare_sets().
  std::optional<SetComparison> sets() const;
  /// Once, after the last batch. `facts` are what there is to say about the model.
  ModelReport finish(const ModelInput& input, Facts facts, Seed seed);

 private:
  const FittedModel& fitted_;
  std::string model_path_;
  std::vector<std::string> groups_;
  Examination exam_;
  ColumnGatherer columns_;
  std::optional<CostTally> worth_;
  std::optional<SetComparisonTally> sets_;
};

/// Everything that was left out, filled in or not known, for the page.
Facts input_facts(const ModelInput& input);

}  // namespace tare
