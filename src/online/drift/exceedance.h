// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace tare {

/// An estimate from a sample of X and one of Y, and what its variance consists of: a term from each
/// sample, each with n - 1 degrees of freedom. The variances hold for any two distributions, not
/// only for equal ones (they are those of the estimate's influence function).
struct Exceedance {
  double probability = 0.5;
  double variance_x = 0.0, variance_y = 0.0;
};

// Both samples ascending, with at least two values each. A variance is never below the one without
// a change, as that of few values that hardly overlap would often be too small, or 0: with 20 rows
// on each side, tests would name causes in 6 % instead of 5 % of the cases.

/// P(Y > X) + P(Y = X) / 2: Mann and Whitney's, with the variance of DeLong, DeLong and
/// Clarke-Pearson (1988).
Exceedance estimate_exceedance(std::span<const double> x, std::span<const double> y);

/// The probability that Y is farther from the middle of X than X itself, where the distance is one
/// of ranks: the mean of |2 F(Y) - 1|, where F(y) = P(X < y) + P(X = y) / 2. It is 0.5 if both have
/// the same continuous distribution. Unlike distances from a median it needs no centre, whose error
/// would count if Y is shifted.
Exceedance estimate_outwardness(std::span<const double> x, std::span<const double> y);

}  // namespace tare
