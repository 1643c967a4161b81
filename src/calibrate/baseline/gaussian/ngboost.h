// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> ngboost_options();

/// Throws kBadData, naming the row and the value, where distribution=lognormal and a target is not
/// above 0.
void check_ngboost(const FitInput& input, const Params& params);

/// Natural gradient boosting (Duan et al. 2020): boosted trees for the mean and the log sd of a
/// normal distribution of the target, or of its logarithm (model/natural/natural_boosting.h).
std::unique_ptr<QuantileModel> fit_ngboost(const FitInput& input, const Params& params,
                                           const Execution& how);
std::unique_ptr<QuantileModel> load_ngboost(const TensorReader& in);

}  // namespace tare
