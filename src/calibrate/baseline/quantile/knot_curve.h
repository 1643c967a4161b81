// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "model/quantile/quantile_network.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"

namespace tare {

/// From a row's quantiles at knot_levels(), ascending, to those at `levels`, ascending: linear in
/// tau between knots, the outermost knot's beyond it. Does not decrease, and at a knot it is that
/// knot's value exactly.
void follow_knots(std::span<const double> knots, std::span<const Level> levels,
                  std::span<double> out);

/// A network's quantiles at `levels` by way of the knots: rows of x by levels.
Matrix quantiles_by_knots(const QuantileNetwork& network, MatrixView x,
                          std::span<const Level> levels, const Execution& how);

}  // namespace tare
