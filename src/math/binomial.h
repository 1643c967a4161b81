// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tare {

/// P(B = successes) for B the number of successes in `trials` independent trials of probability p,
/// 0 < p < 1. Right to about 14 digits for any number of trials, also where it is very small.
double binomial_probability(std::uint64_t trials, double p, std::uint64_t successes);

/// P(B <= successes), added up from the largest term downwards, so that small ones are as precise
/// as large ones.
double binomial_at_most(std::uint64_t trials, double p, std::uint64_t successes);

/// The largest rank r from 0 to `trials` with P(B < r) <= tail; 0 < tail < 1/2. The r-th smallest
/// of `trials` draws of any distribution is then above its p-quantile with probability at most
/// `tail`; rank 0 means minus infinity. Never decreases with p.
std::uint64_t binomial_lower_rank(std::uint64_t trials, double p, double tail);

}  // namespace tare
