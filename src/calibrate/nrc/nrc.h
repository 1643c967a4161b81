// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// What every member of the NRC family takes, beside its regressor's own options.
std::span<const ParamInfo> nrc_options();

/// NRC, the paper's Algorithm 2, for any regressor and reducer: train f, take the residuals of rows
/// that f has not seen, and return f + SNQ. With predictions given, f is what they say and every
/// row calibrates.
std::unique_ptr<QuantileModel> fit_nrc(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_nrc(const TensorReader& in);

}  // namespace tare
