// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> dgp_options();

/// The quantiles of the predictive distribution of a deep Gaussian process, a mixture of normal
/// distributions; see model/gp/deep_gp.h. Every row trains or validates: there is no calibration
/// step.
std::unique_ptr<QuantileModel> fit_dgp(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_dgp(const TensorReader& in);

}  // namespace tare
