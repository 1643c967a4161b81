// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> nrc_boost_options();

/// NRC in two steps: a few cross-fitted boosted trees standardise residuals by center and size
/// (ResidualTrees), and SNQ calibrates the standardised residuals. The kernel of SNQ uses the one
/// column on which these depend most, among the features, the prediction and the size estimated by
/// the trees, with the k nearest rows; or all of these columns if the loss on left-out rows is
/// smaller. Trees need few rows to find dependence on many features, and SNQ on one feature is
/// exact and fast.
std::unique_ptr<QuantileModel> fit_nrc_boost(const FitInput& input, const Params& params,
                                             const Execution& how);
std::unique_ptr<QuantileModel> load_nrc_boost(const TensorReader& in);

}  // namespace tare
