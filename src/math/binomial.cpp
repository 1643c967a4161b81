// SPDX-License-Identifier: BSD-3-Clause
#include "math/binomial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tare {
namespace {

constexpr std::size_t kExactFactorials = 19;  // 18! has 53 bits

std::array<double, kExactFactorials> make_factorials() {
  std::array<double, kExactFactorials> factorial{1.0};
  for (std::size_t n = 1; n < factorial.size(); ++n) {
    factorial[n] = factorial[n - 1] * static_cast<double>(n);
  }
  return factorial;
}

/// log(n!) less Stirling's formula, log(sqrt(2 pi n) (n/e)^n), for n >= 1.
double stirling_error(std::uint64_t count) {
  static const auto kFactorial = make_factorials();
  const auto n = static_cast<double>(count);
  if (count < kExactFactorials) {
    const double formula = 0.5 * std::log(2.0 * std::numbers::pi * n) + n * std::log(n) - n;
    return std::log(kFactorial[count]) - formula;
  }
  const double s = 1.0 / (n * n);  // five terms leave less than 1e-16 from 19 on
  return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / n;
}

/// x log(x / mean) + mean - x without the cancellation where x is near the mean.
double deviance(double x, double mean) {
  const double v = (x - mean) / (x + mean);
  if (std::abs(v) >= 0.1) return x * std::log(x / mean) + mean - x;
  // log(x / mean) = 2 artanh(v), in powers of v.
  double sum = (x - mean) * v;
  double term = 2.0 * x * v;
  for (int k = 3;; k += 2) {
    term *= v * v;
    const double next = sum + term / k;
    if (next == sum) return sum;
    sum = next;
  }
}

/// From P(B = r) to P(B = r - 1).
double step_down(std::uint64_t trials, double p, std::uint64_t r) {
  return static_cast<double>(r) / static_cast<double>(trials - r + 1) * ((1.0 - p) / p);
}

}  // namespace

double binomial_probability(std::uint64_t trials, double p, std::uint64_t successes) {
  if (successes > trials) return 0.0;
  const auto n = static_cast<double>(trials);
  if (successes == 0) return std::exp(n * std::log1p(-p));
  if (successes == trials) return std::exp(n * std::log(p));
  // Each factorial by Stirling's formula and its error: the large parts cancel on paper.
  const auto x = static_cast<double>(successes);
  const double errors =
      stirling_error(trials) - stirling_error(successes) - stirling_error(trials - successes);
  const double exponent = errors - deviance(x, n * p) - deviance(n - x, n * (1.0 - p));
  return std::exp(exponent) * std::sqrt(n / (2.0 * std::numbers::pi * x * (n - x)));
}

double binomial_at_most(std::uint64_t trials, double p, std::uint64_t successes) {
  if (successes >= trials) return 1.0;
  const double mean = static_cast<double>(trials) * p;
  if (static_cast<double>(successes) > mean) {  // terms would first grow
    return 1.0 - binomial_at_most(trials, 1.0 - p, trials - successes - 1);
  }
  double term = binomial_probability(trials, p, successes);
  double sum = term;
  for (std::uint64_t r = successes; r > 0; --r) {
    term *= step_down(trials, p, r);
    const double next = sum + term;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

std::uint64_t binomial_lower_rank(std::uint64_t trials, double p, double tail) {
  const auto n = static_cast<double>(trials);
  // Start at the normal approximation, then move by steps of 1 to the exact rank. P(B < r) is at
  // most the tail, so r is at most slightly above the mean.
  const double guess = std::floor(n * p - 1.64 * std::sqrt(n * p * (1.0 - p)));
  auto rank = static_cast<std::uint64_t>(std::clamp(guess, 0.0, n));
  double below = rank == 0 ? 0.0 : binomial_at_most(trials, p, rank - 1);
  while (rank > 0 && below > tail) {
    --rank;
    below = rank == 0 ? 0.0 : binomial_at_most(trials, p, rank - 1);
  }
  while (rank < trials) {
    below += binomial_probability(trials, p, rank);
    if (below > tail) break;
    ++rank;
  }
  return rank;
}

}  // namespace tare
