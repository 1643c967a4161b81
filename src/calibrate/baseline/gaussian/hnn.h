// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> hnn_options();

/// A heteroscedastic network (Kendall & Gal 2017): one network with a mean and an sd head, trained
/// by Gaussian likelihood. Its quantiles are those of the normal distribution at each row.
std::unique_ptr<QuantileModel> fit_hnn(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_hnn(const TensorReader& in);

}  // namespace tare
