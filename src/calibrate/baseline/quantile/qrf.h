// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> qrf_options();

/// Quantile regression forest (Meinshausen 2006): quantiles of the training targets, each row
/// weighted by how often it shares a leaf with the query (model/forest/quantile_forest.h).
std::unique_ptr<QuantileModel> fit_qrf(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_qrf(const TensorReader& in);

}  // namespace tare
