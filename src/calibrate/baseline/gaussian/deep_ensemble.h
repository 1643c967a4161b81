// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> deep_ensemble_options();

/// A deep ensemble (Lakshminarayanan et al. 2017): HNNs that differ in their initial weights, in
/// the order of the rows and in the validation rows. The predicted distribution of a row is normal
/// with the mean and variance of their equal mixture.
std::unique_ptr<QuantileModel> fit_deep_ensemble(const FitInput& input, const Params& params,
                                                 const Execution& how);
std::unique_ptr<QuantileModel> load_deep_ensemble(const TensorReader& in);

}  // namespace tare
