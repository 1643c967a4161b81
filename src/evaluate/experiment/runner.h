// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "evaluate/experiment/case_data.h"
#include "evaluate/experiment/plan.h"
#include "evaluate/experiment/result_file.h"
#include "tare/base/execution.h"

namespace tare {

/// What a run could not do, and why.
struct RunReport {
  std::vector<std::string> absent;  // cases without data: which file, and where to get it
  std::vector<std::string> failed;  // trials that threw: which, and the message
};

/// Runs the trials of the plan that `results` does not have yet, side by side on the threads of
/// `how`, each on one. A trial that fails is reported and left out, and the rest goes on. The
/// result of a trial depends on its key alone.
RunReport run_plan(const ExperimentPlan& plan, const std::string& data_folder, ResultFile& results,
                   const Execution& how);
/// The same for a plan with one case whose rows are in memory.
RunReport run_plan(const ExperimentPlan& plan, const CaseData& rows, ResultFile& results,
                   const Execution& how);

TrialKey trial_key(const ExperimentPlan& plan, const ExperimentCase& one,
                   const ExperimentMethod& method, std::size_t repeat);

/// The trials of a plan, case by case.
std::vector<TrialKey> trial_keys(const ExperimentPlan& plan);

}  // namespace tare
