// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tare {

struct ProportionInterval {
  double low = 0.0;
  double high = 1.0;
};

/// The interval of Clopper and Pearson for a probability of which `successes` in `trials` were
/// seen: it holds the probability with at least `confidence`, and either end fails with at most
/// half of the rest. Without trials it is [0, 1]. 0 < confidence < 1.
ProportionInterval clopper_pearson(std::uint64_t successes, std::uint64_t trials,
                                   double confidence);

struct CountRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// Where the number of successes lies with at least `confidence`, either end failing with at most
/// half of the rest. 0 < p < 1, 0 < confidence < 1.
CountRange binomial_range(std::uint64_t trials, double p, double confidence);

/// Where the rank of a sample's median lies: the median of the law is between the order statistics
/// `low` and `high` (from 1; 0 and trials + 1 stand for the infinite) with at least `confidence`.
CountRange median_ranks(std::uint64_t trials, double confidence);

}  // namespace tare
