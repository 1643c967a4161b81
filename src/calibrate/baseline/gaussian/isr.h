// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> isr_options();

/// Isotonic recalibration (Kuleshov et al. 2018): an HNN on part of the rows; on the others, how
/// often each level of its law was kept. A level is answered by the law's quantile at the level
/// that was kept that often.
std::unique_ptr<QuantileModel> fit_isr(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_isr(const TensorReader& in);

}  // namespace tare
