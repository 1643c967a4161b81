// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> cqr_boost_options();

/// Conformalized quantile regression (Romano, Patterson, Candes 2019) on boosted trees: quantiles
/// at some levels from QuantileBoosting, those in between from the straight line over the normal
/// quantile of the level, and the conformal step of ConformalBands on the rows held out.
std::unique_ptr<QuantileModel> fit_cqr_boost(const FitInput& input, const Params& params,
                                             const Execution& how);
std::unique_ptr<QuantileModel> load_cqr_boost(const TensorReader& in);

}  // namespace tare
