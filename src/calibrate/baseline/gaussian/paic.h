// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> paic_options();

/// A randomised forecaster (Zhao, Ma, Ermon 2020). Its answer is not random: the quantiles of the
/// mean of its distributions F(x, r) over equally spaced r.
std::unique_ptr<QuantileModel> fit_paic(const FitInput& input, const Params& params,
                                        const Execution& how);
std::unique_ptr<QuantileModel> load_paic(const TensorReader& in);

}  // namespace tare
