// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

std::span<const ParamInfo> lstm_hnn_options();

/// HNN for series: the heads sit on an LSTM that reads a window of steps, oldest first, from a zero
/// state. kInvalidArgument where the columns are not a multiple of the window.
std::unique_ptr<QuantileModel> fit_lstm_hnn(const FitInput& input, const Params& params,
                                            const Execution& how);
std::unique_ptr<QuantileModel> load_lstm_hnn(const TensorReader& in);

}  // namespace tare
