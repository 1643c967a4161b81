// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tare {

struct ProportionInterval {
  double low = 0.0;
  double high = 1.0;
};

/// The Clopper-Pearson interval for a probability, from `successes` in `trials`: it holds the
/// probability with at least `confidence`, and each end fails with at most half of the rest.
/// Without trials it is [0, 1]. 0 < confidence < 1.
ProportionInterval clopper_pearson(std::uint64_t successes, std::uint64_t trials,
                                   double confidence);

struct CountRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// A range that holds the number of successes with at least `confidence`; each end fails with at
/// most half of the rest. 0 < p < 1, 0 < confidence < 1.
CountRange binomial_range(std::uint64_t trials, double p, double confidence);

/// Ranks of a confidence interval for the median: the distribution's median lies between the order
/// statistics `low` and `high` (from 1; 0 and trials + 1 mean minus and plus infinity) with at
/// least `confidence`.
CountRange median_ranks(std::uint64_t trials, double confidence);

}  // namespace tare
