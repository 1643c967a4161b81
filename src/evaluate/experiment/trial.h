// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/experiment/case_data.h"
#include "evaluate/experiment/plan.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

struct MetricValue {
  std::string metric;
  double value = 0.0;
};

/// Fits a method on the rows of a repeat, on one thread. `stop` is Execution::stop.
std::unique_ptr<QuantileModel> fit_trial(const ExperimentMethod& method, const TrialRows& rows,
                                         Seed seed, const std::atomic<bool>* stop = nullptr);

/// Fits a method on the rows of a repeat and scores it on its test rows, on one thread. Metrics
/// have the paper's names, those with `_counted` count ties as below (see Scores); the floors of
/// MACE and AGCE are among them, and for known-law problems ICE, QuantileRMSE and ExcessPinball
/// (over the true quantiles).
std::vector<MetricValue> run_trial(const ExperimentMethod& method, const TrialRows& rows, Seed seed,
                                   const std::atomic<bool>* stop = nullptr);

}  // namespace tare
