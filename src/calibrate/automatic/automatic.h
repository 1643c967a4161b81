// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "tare/base/execution.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

class TensorReader;

/// The method `auto`: candidates from several families, all cross-fitted, each calibrated by SNQ on
/// its own center and scale, and an average of those with the smallest loss on left-out rows.
std::span<const ParamInfo> auto_options();
std::unique_ptr<QuantileModel> fit_auto(const FitInput& input, const Params& params,
                                        const Execution& how);
std::unique_ptr<QuantileModel> load_auto(const TensorReader& in);

}  // namespace tare
