// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// CQR (Romano, Patterson, Candes 2019): a pinball network for all levels, and the conformal step
/// on rows it has not seen.
std::span<const ParamInfo> cqr_options();
std::unique_ptr<QuantileModel> fit_cqr(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_cqr(const TensorReader& in);

}  // namespace tare
