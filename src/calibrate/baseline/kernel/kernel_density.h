// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> kernel_density_options();

/// Conformal prediction sets by kernel density, within each cell of a partition (Lei, Wasserman
/// 2014). The training rows choose partition and bandwidth, as in the paper's data splitting; the
/// held-out rows are ranked.
std::unique_ptr<QuantileModel> fit_kernel_density(const FitInput& input, const Params& params,
                                                  const Execution& how);
std::unique_ptr<QuantileModel> load_kernel_density(const TensorReader& in);

}  // namespace tare
