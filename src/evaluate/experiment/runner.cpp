// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "base/fail.h"
#include "base/parallel.h"
#include "evaluate/experiment/case_data.h"
#include "evaluate/experiment/trial.h"
#include "tare/base/error.h"
#include "tare/calibrate/methods.h"

namespace tare {
namespace {

struct Trial {
  TrialKey key;
  const ExperimentCase* one = nullptr;
  const ExperimentMethod* method = nullptr;
};

std::vector<Trial> trials_of(const ExperimentPlan& plan) {
  std::vector<Trial> trials;
  for (const ExperimentCase& one : plan.cases) {
    for (std::size_t repeat = 0; repeat < plan.repeats; ++repeat) {
      for (const ExperimentMethod& method : plan.methods) {
        trials.push_back({trial_key(plan, one, method, repeat), &one, &method});
      }
    }
  }
  return trials;
}

/// Trials without a result.
std::vector<Trial> trials_left(const ExperimentPlan& plan, const ResultFile& results) {
  std::vector<Trial> trials = trials_of(plan);
  std::erase_if(trials, [&](const Trial& trial) { return results.results().contains(trial.key); });
  return trials;
}

using CaseRows = std::map<const ExperimentCase*, std::shared_ptr<const CaseData>>;

/// The data of the cases that some trial still needs. What is absent is said once.
CaseRows read_cases(const std::vector<Trial>& trials, const std::string& folder,
                    RunReport& report) {
  CaseRows data;
  std::map<const ExperimentCase*, bool> seen;
  for (const Trial& trial : trials) {
    if (!seen.try_emplace(trial.one, true).second) continue;
    try {
      data.emplace(trial.one, std::make_shared<const CaseData>(read_case(*trial.one, folder)));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;
      report.absent.emplace_back(error.what());
    }
  }
  return data;
}

TrialResult run_one(const ExperimentPlan& plan, const Trial& trial, const CaseData& data,
                    const std::atomic<bool>* stop) {
  const auto start = std::chrono::steady_clock::now();
  const Seed seed = split(plan.seed, trial.key.repeat);
  const std::size_t window = find_method(trial.method->method).window;
  const TrialRows rows = draw_trial(plan, *trial.one, data, window, seed);
  TrialResult result;
  result.values =
      run_trial({trial.key.method, plan.params_for(*trial.one, *trial.method)}, rows, seed, stop);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

/// Runs the trials side by side and keeps their results.
void run_trials(const ExperimentPlan& plan, const std::vector<Trial>& trials, const CaseRows& data,
                ResultFile& results, const Execution& how, RunReport& report) {
  std::mutex guard;
  const std::size_t all = trial_keys(plan).size();
  std::size_t done = all - trials.size();
  parallel_for(how, trials.size(), [&](std::size_t t) {
    const Trial& trial = trials[t];
    const std::string name =
        fmt::format("{} {} {}", trial.key.case_name, trial.key.method, trial.key.repeat + 1);
    std::string wrong;
    TrialResult result;
    try {
      result = run_one(plan, trial, *data.at(trial.one), how.stop);
    } catch (const Error& error) {
      wrong = fmt::format("{}: {}", name, error.what());
    }
    const std::lock_guard lock(guard);
    if (wrong.empty()) {
      results.add(trial.key, result);
    } else {
      report.failed.push_back(wrong);
    }
    ++done;
    if (how.progress) how.progress(name, static_cast<double>(done) / static_cast<double>(all));
  });
  results.finish(trial_keys(plan));
  std::ranges::sort(report.failed);
}

}  // namespace

TrialKey trial_key(const ExperimentPlan& plan, const ExperimentCase& one,
                   const ExperimentMethod& method, std::size_t repeat) {
  return {plan.name, one.name,       method.method, plan.params_for(one, method).text(),
          repeat,    plan.seed.value};
}

std::vector<TrialKey> trial_keys(const ExperimentPlan& plan) {
  std::vector<TrialKey> keys;
  for (const Trial& trial : trials_of(plan)) keys.push_back(trial.key);
  return keys;
}

RunReport run_plan(const ExperimentPlan& plan, const std::string& data_folder, ResultFile& results,
                   const Execution& how) {
  check_plan(plan);
  RunReport report;
  std::vector<Trial> trials = trials_left(plan, results);
  const CaseRows data = read_cases(trials, data_folder, report);
  std::erase_if(trials, [&](const Trial& trial) { return !data.contains(trial.one); });
  run_trials(plan, trials, data, results, how, report);
  return report;
}

RunReport run_plan(const ExperimentPlan& plan, const CaseData& rows, ResultFile& results,
                   const Execution& how) {
  check_plan(plan);
  if (plan.cases.size() != 1) {
    fail(ErrorCode::kInvalidArgument, "run_plan: rows of one case for a plan with {}",
         plan.cases.size());
  }
  RunReport report;
  // The caller's rows outlive this function: nothing has to be copied or freed.
  const CaseRows data = {{plan.cases.data(), {std::shared_ptr<const CaseData>(), &rows}}};
  run_trials(plan, trials_left(plan, results), data, results, how, report);
  return report;
}

}  // namespace tare
