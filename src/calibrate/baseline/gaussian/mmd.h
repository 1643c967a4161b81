// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> mmd_options();

/// Distribution matching (Cui et al. 2020): an HNN, trained on with a second loss, the squared
/// maximum mean discrepancy between one draw from each predicted law of a batch and the batch's
/// targets. That loss sees two sets: it cannot tell which law belongs to which row.
std::unique_ptr<QuantileModel> fit_mmd(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_mmd(const TensorReader& in);

}  // namespace tare
