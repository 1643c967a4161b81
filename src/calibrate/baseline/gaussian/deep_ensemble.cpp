// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/baseline/gaussian/deep_ensemble.h"

#include "calibrate/baseline/gaussian/gaussian_model.h"
#include "data/rows.h"
#include "model/gaussian/gaussian_ensemble.h"

namespace tare {
namespace {

constexpr auto kDeepEnsembleOptions =
    join_options(std::to_array<ParamInfo>({
                     {"members", "5", "number of networks"},
                     {"adversarial", "0",
                      "step of adversarial examples, as a share of each column's range; 0: none"},
                 }),
                 nn::kBodyOptions, kGaussianDropout, kGaussianOptions, kGaussianTraining);

}  // namespace

std::span<const ParamInfo> deep_ensemble_options() { return kDeepEnsembleOptions; }

std::unique_ptr<QuantileModel> fit_deep_ensemble(const FitInput& input, const Params& params,
                                                 const Execution& how) {
  const EnsembleOptions options{GaussianOptions::feed_forward(params),
                                params.count("members", 5, 1, GaussianEnsemble::kMaxMembers)};
  const TrainingRows rows(input, all_rows(input.x.rows()));
  return std::make_unique<GaussianModel<GaussianEnsemble>>(
      input.x.cols(), ModelColumns(input.model_columns),
      fit_gaussian_ensemble(rows.data(), options, input.seed, how));
}

std::unique_ptr<QuantileModel> load_deep_ensemble(const TensorReader& in) {
  return GaussianModel<GaussianEnsemble>::load(in);
}

}  // namespace tare
