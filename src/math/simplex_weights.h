// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare {

/// The weights w, not negative and with sum 1, that make w' G w least. `gram` holds G row by row: a
/// symmetric matrix of `count` rows without negative eigenvalues, such as the mean products of the
/// errors of several predictions, whose blend then has the least mean squared error. Where several
/// weights are as good, one of them. No randomness.
std::vector<double> simplex_weights(std::span<const double> gram, std::size_t count);

}  // namespace tare
