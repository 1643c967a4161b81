// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare {

/// Draws samples, fits pure_kernel on 100 rows with `held_out` more for the guarantee, and expects
/// the mean probability of the 90 % interval to be between 0.9 and 0.9 + 2 / (n + 1) + 0.005, give
/// or take four standard errors of that mean, which are estimated from the draws.
void expect_guaranteed_coverage(std::size_t held_out, std::uint64_t draws);

/// The same for cross with five folds of `rows` rows in all: at least 0.88, which is what CV+ gives
/// in practice and more than what is proven.
void expect_cross_coverage(std::size_t rows, std::uint64_t draws);

}  // namespace tare
