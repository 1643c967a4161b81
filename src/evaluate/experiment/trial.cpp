// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/experiment/trial.h"

#include <algorithm>

#include "base/parallel.h"
#include "tare/calibrate/methods.h"
#include "tare/evaluate/metrics.h"
#include "tare/evaluate/scorecard.h"

namespace tare {
namespace {

bool has_calibration_step(const Method& method) {
  return std::ranges::any_of(method.options,
                             [](const ParamInfo& option) { return option.name == "split"; });
}

/// A split that the plan names takes precedence over the reserved calibration rows.
FitInput fit_input(const Method& method, const ExperimentMethod& wanted, const TrialRows& rows,
                   Seed seed) {
  FitInput input{.x = rows.x, .y = rows.y};
  input.window = rows.window;
  input.seed = seed;
  const bool own_split = effective_params(method, wanted.params).has("split");
  if (has_calibration_step(method) && !own_split) input.calibrate_rows = rows.calibrate;
  return input;
}

void add_known_law(const QuantileModel& model, const TrialRows& rows, const Execution& how,
                   std::vector<MetricValue>& values) {
  const std::vector<Level> levels = metric_levels();
  const Prediction p = model.predict({rows.test_x}, levels, how);
  Matrix truth(rows.test_x.rows(), levels.size());
  for (std::size_t i = 0; i < truth.rows(); ++i) {
    const Law law = rows.problem->law(rows.test_x.row(i));
    for (std::size_t j = 0; j < levels.size(); ++j) truth(i, j) = law.quantile(levels[j].value());
  }
  values.push_back(
      {"ICE", individual_calibration_error(*rows.problem, rows.test_x, p.quantiles, levels)});
  values.push_back(
      {"QuantileRMSE", quantile_rmse(*rows.problem, rows.test_x, p.quantiles, levels)});
  values.push_back({"ExcessPinball", check_score(rows.test_y, p.quantiles, levels) -
                                         check_score(rows.test_y, truth, levels)});
}

}  // namespace

std::unique_ptr<QuantileModel> fit_trial(const ExperimentMethod& wanted, const TrialRows& rows,
                                         Seed seed, const std::atomic<bool>* stop) {
  const Method& method = find_method(wanted.method);
  Execution how = one_thread();
  how.stop = stop;
  return fit_method(method, fit_input(method, wanted, rows, split(seed, 2)), wanted.params, how);
}

std::vector<MetricValue> run_trial(const ExperimentMethod& wanted, const TrialRows& rows, Seed seed,
                                   const std::atomic<bool>* stop) {
  Execution how = one_thread();
  how.stop = stop;
  const auto model = fit_trial(wanted, rows, seed, stop);
  Scorecard card;
  card.add(*model, {rows.test_x}, rows.test_y, how);
  const Scores scores = card.finish(split(seed, 4));
  // Copies of a row are covered or missed together: 1,000 copies may carry the information of two
  // rows.
  const bool copies = !rows.test_source.empty();
  std::vector<MetricValue> values;
  for (std::size_t k = 0; k < scores.values.size(); ++k) {
    const ScoreInfo& info = score_table()[k];
    if (info.contest.empty() || !scores.values[k]) continue;
    if (copies && info.role == ScoreRole::kFloor) continue;
    values.push_back({std::string(info.contest), *scores.values[k]});
  }
  if (copies) {
    values.push_back(
        {"MACE_floor", repeated_mace_floor(rows.test_source, metric_levels(), split(seed, 5))});
  }
  if (rows.problem != nullptr) add_known_law(*model, rows, how, values);
  return values;
}

}  // namespace tare
