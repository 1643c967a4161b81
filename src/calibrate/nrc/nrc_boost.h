// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> nrc_boost_options();

/// NRC in two steps: a few boosted trees bring residuals to a common center and size, cross-fitted
/// (ResidualTrees), and SNQ calibrates what is left. SNQ sees the one column on which that depends
/// most, among the features, the prediction and the size that the trees found, and takes its k
/// nearest rows there; or, where rows left out are predicted better so, all of these columns.
/// Trees find what varies in many directions with few rows, and along one line SNQ is exact and
/// fast.
std::unique_ptr<QuantileModel> fit_nrc_boost(const FitInput& input, const Params& params,
                                             const Execution& how);
std::unique_ptr<QuantileModel> load_nrc_boost(const TensorReader& in);

}  // namespace tare
