// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "tare/model/regressor.h"

namespace tare {

inline constexpr std::span<const ParamInfo> kZeroOptions;

/// Predicts 0 for every x, so that the residual is Y itself (`pure_kernel`).
std::unique_ptr<Regressor> fit_zero(const RegressionData& data, const Params& params, Seed seed,
                                    const Execution& how);
std::unique_ptr<Regressor> load_zero(const TensorReader& in);

}  // namespace tare
