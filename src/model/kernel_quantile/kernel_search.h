// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>

#include "model/kernel_quantile/kernel_quantiles.h"
#include "model/kernel_quantile/quantile_rows.h"

namespace tare {

/// Penalty and width, in `unit`s, with the lowest pinball loss of left-out rows, as far as the
/// options leave them open.
std::pair<double, double> search_kernel(const QuantileRows& rows,
                                        const KernelQuantilesOptions& options, double unit,
                                        Seed seed, const Execution& how);

}  // namespace tare
