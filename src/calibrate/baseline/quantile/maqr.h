// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// MAQR (Chung, Neiswanger, Char, Schneider 2021, section 3.1): a point model; the local quantiles
/// of its residuals at the rows it was trained on; a network on (x, tau) fitted to these.
std::span<const ParamInfo> maqr_options();
std::unique_ptr<QuantileModel> fit_maqr(const FitInput& input, const Params& params,
                                        const Execution& how);
std::unique_ptr<QuantileModel> load_maqr(const TensorReader& in);

}  // namespace tare
