// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The options of every member of the NRC family, in addition to those of its regressor.
std::span<const ParamInfo> nrc_options();

/// NRC, the paper's Algorithm 2, for any regressor and reducer: train f, compute the residuals of
/// rows that f was not trained on, and return f + SNQ. With given predictions, f is the prediction
/// and every row calibrates.
std::unique_ptr<QuantileModel> fit_nrc(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_nrc(const TensorReader& in);

}  // namespace tare
