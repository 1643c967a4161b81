// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/quantile/cqr.h"

#include "calibrate/baseline/quantile/conformal_network.h"

namespace tare {
namespace {

constexpr auto kCqrOptions = join_options(kConformalOptions, kQuantileNetworkOptions);

}  // namespace

std::span<const ParamInfo> cqr_options() { return kCqrOptions; }

std::unique_ptr<QuantileModel> fit_cqr(const FitInput& input, const Params& params,
                                       const Execution& how) {
  QuantileTask task(params);
  task.loss = pinball_loss;
  task.stage = "cqr";
  const auto train = [&](const RegressionData& data, Seed seed) {
    return QuantileNetwork::fit(data, task, seed, how);
  };
  return fit_conformal_network(input, params, train, how);
}

std::unique_ptr<QuantileModel> load_cqr(const TensorReader& in) {
  return load_conformal_network(in);
}

}  // namespace tare
