// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/hnn.h"

#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "data/rows.h"
#include "model/gaussian/gaussian_training.h"

namespace tare {
namespace {

constexpr auto kHnnOptions =
    join_options(nn::kBodyOptions, kGaussianDropout, kGaussianOptions, kGaussianTraining);

}  // namespace

std::span<const ParamInfo> hnn_options() { return kHnnOptions; }

std::unique_ptr<QuantileModel> fit_hnn(const FitInput& input, const Params& params,
                                       const Execution& how) {
  const GaussianOptions options = GaussianOptions::feed_forward(params);
  const TrainingRows rows(input, all_rows(input.x.rows()));
  return std::make_unique<GaussianModel<GaussianNetwork>>(
      input.x.cols(), ModelColumns(input.model_columns),
      fit_gaussian_network(rows.data(), options, input.seed, how));
}

std::unique_ptr<QuantileModel> load_hnn(const TensorReader& in) {
  return GaussianModel<GaussianNetwork>::load(in);
}

}  // namespace tare
