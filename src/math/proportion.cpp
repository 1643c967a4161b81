// SPDX-License-Identifier: BSD-3-Clause
#include "math/proportion.h"

#include "math/binomial.h"

namespace tare {
namespace {

/// The largest p at which P(B <= successes) is still more than `tail`: it falls as p grows.
double upper_end(std::uint64_t successes, std::uint64_t trials, double tail) {
  if (successes >= trials) return 1.0;
  double low = 0.0;
  double high = 1.0;
  for (;;) {
    const double middle = low + (high - low) / 2.0;
    if (middle <= low || middle >= high) return high;
    (binomial_at_most(trials, middle, successes) > tail ? low : high) = middle;
  }
}

}  // namespace

ProportionInterval clopper_pearson(std::uint64_t successes, std::uint64_t trials,
                                   double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  return {1.0 - upper_end(trials - successes, trials, tail), upper_end(successes, trials, tail)};
}

CountRange binomial_range(std::uint64_t trials, double p, double confidence) {
  const double tail = (1.0 - confidence) / 2.0;
  return {binomial_lower_rank(trials, p, tail),
          trials - binomial_lower_rank(trials, 1.0 - p, tail)};
}

CountRange median_ranks(std::uint64_t trials, double confidence) {
  const std::uint64_t low = binomial_lower_rank(trials, 0.5, (1.0 - confidence) / 2.0);
  return {low, trials + 1 - low};
}

}  // namespace tare
