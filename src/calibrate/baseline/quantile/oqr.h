// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "io/tensor_store.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// OQR (Feldman, Bates, Romano 2021): CQR whose training also minimises the absolute correlation,
/// over a minibatch, of the length of an interval and of whether it covers.
std::span<const ParamInfo> oqr_options();
std::unique_ptr<QuantileModel> fit_oqr(const FitInput& input, const Params& params,
                                       const Execution& how);
std::unique_ptr<QuantileModel> load_oqr(const TensorReader& in);

}  // namespace tare
