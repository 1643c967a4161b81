// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> distribution_calibration_options();

/// A network with a mean and an sd, whose distributions are mapped by the GP-Beta link (Song,
/// Diethe, Kull, Flach 2019), fitted on held-out rows.
std::unique_ptr<QuantileModel> fit_distribution_calibration(const FitInput& input,
                                                            const Params& params,
                                                            const Execution& how);
std::unique_ptr<QuantileModel> load_distribution_calibration(const TensorReader& in);

}  // namespace tare
