// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// CCL (Chung, Neiswanger, Char, Schneider 2021, section 3.2): a network on (x, tau) that minimises
/// (1 - l) calibration + l sharpness over minibatches.
std::span<const ParamInfo> ccl_options();
std::unique_ptr<QuantileModel> fit_ccl(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_ccl(const TensorReader& in);

}  // namespace tare
