// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>

#include "base/fail.h"
#include "evaluate/binomial_deviation.h"
#include "evaluate/groups.h"
#include "math/compensated_sum.h"
#include "tare/evaluate/metrics.h"

// A perfect forecaster of a continuous target sees y <= q in Binomial(n, tau) of n rows: its
// probability integral transforms are uniform and independent. Neither floor depends on anything
// else.

namespace tare {
namespace {

void check_floor(const char* where, std::size_t rows, std::span<const Level> levels) {
  if (rows == 0) fail(ErrorCode::kInvalidArgument, "{}: no rows to evaluate", where);
  if (levels.empty()) fail(ErrorCode::kInvalidArgument, "{}: no levels to evaluate", where);
}

// log k! less Stirling's formula (k + 1/2) log k - k + log(2 pi) / 2, for k >= 1.
double stirling_error(double k) {
  if (k < 16.0) {
    double factorial = 1.0;  // exact in a double up to 18!
    for (double i = 2.0; i <= k; i += 1.0) factorial *= i;
    return std::log(factorial) - (k + 0.5) * std::log(k) + k -
           0.5 * std::log(2.0 * std::numbers::pi);
  }
  const double s = 1.0 / (k * k);  // the first term left out is 1/(1188 k^9), below 2e-14
  return (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s / 1680.0))) / k;
}

// P(B = k) for B ~ Binomial(n, tau), k within 1 of n tau, 1 <= k <= n. Written with Stirling's
// formula inside out, since log n! - log k! - log (n - k)! would lose one digit for each digit of
// n.
double central_probability(double n, double k, double tau) {
  if (k == n) return std::pow(tau, n);
  const double rest = n - k;
  const double gap = n * tau - k;  // within 1 of 0, so both logarithms are small and nearly cancel
  // With few hits expected, k = 1 and gap / k comes close to -1, where log1p would lose digits.
  const double log_ratio = gap > -0.5 * k ? std::log1p(gap / k) : std::log(n * tau / k);
  const double exponent = k * log_ratio + rest * std::log1p(-gap / rest) + stirling_error(n) -
                          stirling_error(k) - stirling_error(rest);
  return std::exp(exponent) * std::sqrt(n / (2.0 * std::numbers::pi * k * rest));
}

struct GroupErrors {
  double worst = 0.0;
  double mean = 0.0;
};

// The MACE of the groups of one perfect forecast; `sorted` levels ascending.
GroupErrors simulate_groups(std::size_t rows, std::span<const double> sorted, Seed seed) {
  // A row counts at every level from the first that reaches its transform on; keep that level's
  // number.
  std::vector<std::size_t> first(rows);
  Rng rng(split(seed, kAgceGroups));  // the groups take the streams below
  for (std::size_t& f : first) {
    const auto reached = std::lower_bound(sorted.begin(), sorted.end(), rng.uniform());
    f = static_cast<std::size_t>(reached - sorted.begin());
  }
  std::vector<std::size_t> starts(sorted.size() + 1);
  GroupErrors errors;
  errors.worst = worst_group(rows, seed, [&](std::span<const std::size_t> group) {
    std::fill(starts.begin(), starts.end(), std::size_t{0});
    for (const std::size_t i : group) ++starts[first[i]];
    double sum = 0.0;
    std::size_t count = 0;
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      count += starts[j];
      sum += std::fabs(sorted[j] - static_cast<double>(count) / static_cast<double>(group.size()));
    }
    const double error = sum / static_cast<double>(sorted.size());
    errors.mean += error / static_cast<double>(kAgceGroups);
    return error;
  });
  return errors;
}

}  // namespace

// De Moivre: E|B - n tau| = 2 k (1 - tau) P(B = k) with k = floor(n tau) + 1.
double mean_absolute_deviation(double n, double tau) {
  const double k = std::min(std::floor(n * tau) + 1.0, n);
  return 2.0 * k * (1.0 - tau) * central_probability(n, k, tau) / n;
}

double mace_floor(std::size_t rows, std::span<const Level> levels) {
  check_floor("mace_floor", rows, levels);

  CompensatedSum sum;
  for (const Level& level : levels) {
    sum.add(mean_absolute_deviation(static_cast<double>(rows), level.value()));
  }
  return sum.value() / static_cast<double>(levels.size());
}

double repeated_mace_floor(std::span<const std::size_t> source, std::span<const Level> levels,
                           Seed seed) {
  check_floor("repeated_mace_floor", source.size(), levels);
  constexpr std::size_t kDraws = 2'000;  // the sd of a draw is about a third of its mean
  std::map<std::size_t, double> shares;  // of the rows
  for (const std::size_t row : source) shares[row] += 1.0 / static_cast<double>(source.size());
  Rng rng(seed);
  CompensatedSum sum;
  std::vector<double> reached(levels.size());
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    std::fill(reached.begin(), reached.end(), 0.0);
    for (const auto& [row, share] : shares) {
      const double transform = rng.uniform();
      for (std::size_t j = 0; j < levels.size(); ++j) {
        if (transform <= levels[j].value()) reached[j] += share;
      }
    }
    for (std::size_t j = 0; j < levels.size(); ++j) {
      sum.add(std::fabs(reached[j] - levels[j].value()));
    }
  }
  return sum.value() / static_cast<double>(kDraws * levels.size());
}

double agce_floor(std::size_t rows, std::span<const Level> levels, Seed seed) {
  check_floor("agce_floor", rows, levels);

  // A repeat varies by about a quarter of itself, so the work goes into repeats and not into rows:
  // past kMaxRows the ratio of AGCE's floor to the MACE floor of one group stays within half a
  // percent of 1.80.
  constexpr std::size_t kMaxRows = 1000;
  constexpr std::size_t kRowBudget = 400000;
  constexpr std::size_t kMaxRepeats = 2000;
  const std::size_t simulated = std::min(rows, kMaxRows);
  const std::size_t repeats = std::min(kRowBudget / simulated, kMaxRepeats);

  std::vector<double> sorted;
  sorted.reserve(levels.size());
  for (const Level& level : levels) sorted.push_back(level.value());
  std::sort(sorted.begin(), sorted.end());
  // The mean error of the groups is half of what makes the worst one vary, and its expectation is
  // known; taking out twice its excess (the regression slope, measured at 1.9 to 2.2 for 51 to 5000
  // rows) halves the variance.
  constexpr double kSlope = 2.0;
  const double group_floor = mace_floor(agce_group_size(simulated), levels);
  CompensatedSum sum;
  for (std::uint64_t r = 0; r < repeats; ++r) {
    const GroupErrors errors = simulate_groups(simulated, sorted, split(seed, r));
    sum.add(errors.worst - kSlope * (errors.mean - group_floor));
  }
  const double floor = sum.value() / static_cast<double>(repeats);
  if (simulated == rows) return floor;
  return floor * mace_floor(agce_group_size(rows), levels) / group_floor;
}

}  // namespace tare
