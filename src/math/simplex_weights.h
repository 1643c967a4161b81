// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare {

/// The weights w, non-negative and with sum 1, that minimise w' G w. `gram` holds G row by row: a
/// positive semidefinite matrix of `count` rows, for example the mean products of the errors of
/// several predictions, whose blend then has the smallest mean squared error. If the minimum is not
/// unique, any one of them. No randomness.
std::vector<double> simplex_weights(std::span<const double> gram, std::size_t count);

}  // namespace tare
