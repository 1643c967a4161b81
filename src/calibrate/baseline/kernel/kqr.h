// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> kqr_options();

/// Kernel quantile regression (Takeuchi, Le, Sears, Smola 2006) with a Gaussian kernel, at 15
/// levels.
std::unique_ptr<QuantileModel> fit_kqr(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_kqr(const TensorReader& in);

}  // namespace tare
