// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "io/tensor_store.h"
#include "model/quantile/quantile_network.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

// What CQR and OQR share: a quantile network on one part of the rows, the conformal step on the
// other.

inline constexpr std::array kConformalOptions = std::to_array<ParamInfo>({
    {"split", "0.3", "rows that calibrate: a share, time, or time:SHARE"},
});

using TrainQuantiles = std::function<QuantileNetwork(const RegressionData&, Seed)>;

/// Splits as kConformalOptions say, trains with `train`, and moves the quantiles by what the rows
/// held out say; of more than 50,000 of these a random part is used. Throws kBadData where too few
/// rows are held out.
std::unique_ptr<QuantileModel> fit_conformal_network(const FitInput& input, const Params& params,
                                                     const TrainQuantiles& train,
                                                     const Execution& how);
std::unique_ptr<QuantileModel> load_conformal_network(const TensorReader& in);

}  // namespace tare
