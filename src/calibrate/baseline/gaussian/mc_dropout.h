// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> mc_dropout_options();

/// Monte Carlo dropout (Gal & Ghahramani 2016): an HNN trained with dropout and evaluated with it,
/// in passes whose seed is part of the model. The law at a row is normal with the mixture of the
/// passes' mean and variance: the mean of the variances plus the variance of the means.
std::unique_ptr<QuantileModel> fit_mc_dropout(const FitInput& input, const Params& params,
                                              const Execution& how);
std::unique_ptr<QuantileModel> load_mc_dropout(const TensorReader& in);

}  // namespace tare
