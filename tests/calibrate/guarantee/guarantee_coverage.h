// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tare {

/// Draws samples, fits pure_kernel on 100 rows with `held_out` more for the guarantee, and expects
/// the mean probability of the 90 % interval to be between 0.9 and 0.9 + 2 / (n + 1), give
/// or take four standard errors of that mean, which are estimated from the draws.
void expect_guaranteed_coverage(std::size_t held_out, std::uint64_t draws);

/// Fits a method once on `rows` rows without a guarantee, then draws `held_out` rows for one, again
/// and again: the guarantee is about these rows and the new one, whatever the model. Expects the
/// mean probability of the 50, 60, 80 and 90 % intervals to be at least their level and at most 2 /
/// (n + 1) more, give or take three standard errors, since there are forty comparisons in all.
void expect_tight_coverage(const std::string& method, const std::string& options, std::size_t rows,
                           std::size_t held_out, std::uint64_t draws);

/// The same as the first for cross with five folds of `rows` rows in all: at least 0.88, which is
/// what CV+ gives in practice and more than what is proven.
void expect_cross_coverage(std::size_t rows, std::uint64_t draws);

}  // namespace tare
