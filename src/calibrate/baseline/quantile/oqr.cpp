// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/oqr.h"

#include <vector>

#include "calibrate/baseline/quantile/conformal_network.h"
#include "calibrate/baseline/quantile/pair_losses.h"
#include "model/nn/graph/operations.h"

namespace tare {
namespace {

constexpr auto kOqrOptions =
    join_options(kConformalOptions,
                 std::to_array<ParamInfo>({
                     {"penalty", "0.01",
                      "weight of the correlation between length and coverage; grid=paper tries "
                      "0.01, 0.1 and 0.5 unless a value is given",
                      "0.01,0.1,0.5"},
                 }),
                 kQuantileNetworkOptions);

// The authors use 0.1 or 0.5 with the pinball loss, by dataset. On a standardised target that is
// worth more than all that is left of the pinball loss: on skewed_1, 4,000 rows, three seeds from
// 1000 on, the individual calibration error is 0.038 at 0, 0.035 at 0.01, 0.043 at 0.03 and 0.078
// at 0.1.
constexpr double kDefaultPenalty = 0.01;

std::vector<double> penalties(const Params& params) {
  const double given = params.number("penalty", kDefaultPenalty, 0.0, 1e3);
  if (params.text("grid", "none") == "paper" && !params.has("penalty")) return {0.01, 0.1, 0.5};
  return {given};
}

}  // namespace

std::span<const ParamInfo> oqr_options() { return kOqrOptions; }

std::unique_ptr<QuantileModel> fit_oqr(const FitInput& input, const Params& params,
                                       const Execution& how) {
  QuantileTask task(params);
  use_batch_losses(task, params);
  task.stage = "oqr";
  // The pinball loss alone decides: it is proper, and the same for every weight of the penalty.
  task.validation = pinball_loss;
  const std::vector<double> tried = penalties(params);
  const auto train = [&](const RegressionData& data, Seed seed) {
    return best_of(tried, [&](double penalty) {
      task.loss = [penalty](const LevelBatch& batch) {
        const auto weight = static_cast<float>(penalty);
        return pinball_loss(batch) + weight * length_coverage_correlation(
                                                  batch.quantile, batch.rows.y, row_weights(batch));
      };
      return QuantileNetwork::fit(data, task, seed, how);
    });
  };
  return fit_conformal_network(input, params, train, how);
}

std::unique_ptr<QuantileModel> load_oqr(const TensorReader& in) {
  return load_conformal_network(in);
}

}  // namespace tare
