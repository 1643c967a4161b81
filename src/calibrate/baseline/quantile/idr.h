// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> idr_options();

/// Isotonic distributional regression (Henzi, Ziegel, Gneiting 2021) on a point prediction, given
/// or of a model of its own: EasyUQ (Walz, Henzi, Ziegel, Gneiting 2024). Of a given distribution
/// its center is the prediction. See model/isotonic/isotonic_cdf.h.
std::unique_ptr<QuantileModel> fit_idr(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_idr(const TensorReader& in);

}  // namespace tare
