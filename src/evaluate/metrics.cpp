// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/metrics.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "evaluate/checks.h"
#include "evaluate/groups.h"
#include "math/compensated_sum.h"

namespace tare {
namespace {

constexpr std::size_t kCrpsSteps = 200;

// Adds row i's indicators of y <= q to the counts, one per level.
void count_row(double y, std::span<const double> q, std::span<std::size_t> counts) {
  for (std::size_t j = 0; j < q.size(); ++j) counts[j] += y <= q[j] ? 1u : 0u;
}

double mean_gap(std::span<const std::size_t> counts, std::size_t rows,
                std::span<const Level> levels) {
  CompensatedSum sum;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    sum.add(
        std::fabs(levels[j].value() - static_cast<double>(counts[j]) / static_cast<double>(rows)));
  }
  return sum.value() / static_cast<double>(levels.size());
}

double mean_pinball(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  CompensatedSum sum;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      sum.add(pinball(y[i], q(i, j), levels[j].value()));
    }
  }
  return sum.value() / (static_cast<double>(y.size()) * static_cast<double>(levels.size()));
}

}  // namespace

double pinball(double y, double q, double tau) {
  const double miss = y - q;
  return std::max(tau * miss, (tau - 1.0) * miss);
}

std::vector<double> observed_levels(std::span<const double> y, MatrixView q) {
  check_rows("observed_levels", y, q);

  std::vector<std::size_t> counts(q.cols(), 0);
  for (std::size_t i = 0; i < y.size(); ++i) count_row(y[i], q.row(i), counts);
  std::vector<double> shares(q.cols());
  for (std::size_t j = 0; j < shares.size(); ++j) {
    shares[j] = static_cast<double>(counts[j]) / static_cast<double>(y.size());
  }
  return shares;
}

double mace(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  check_rows("mace", y, q);
  check_levels("mace", q, levels);

  std::vector<std::size_t> counts(levels.size(), 0);
  for (std::size_t i = 0; i < y.size(); ++i) count_row(y[i], q.row(i), counts);
  return mean_gap(counts, y.size(), levels);
}

double agce(std::span<const double> y, MatrixView q, std::span<const Level> levels, Seed seed) {
  check_rows("agce", y, q);
  check_levels("agce", q, levels);

  std::vector<std::size_t> counts(levels.size());
  return worst_group(y.size(), seed, [&](std::span<const std::size_t> group) {
    std::fill(counts.begin(), counts.end(), std::size_t{0});
    for (const std::size_t i : group) count_row(y[i], q.row(i), counts);
    return mean_gap(counts, group.size(), levels);
  });
}

double check_score(std::span<const double> y, MatrixView q, std::span<const Level> levels) {
  check_rows("check_score", y, q);
  check_levels("check_score", q, levels);

  return mean_pinball(y, q, levels);
}

std::vector<Level> crps_levels() {
  std::vector<Level> levels;
  levels.reserve(kCrpsSteps);
  for (std::size_t j = 0; j < kCrpsSteps; ++j) {
    levels.emplace_back((static_cast<double>(j) + 0.5) / static_cast<double>(kCrpsSteps));
  }
  return levels;
}

double crps(std::span<const double> y, MatrixView q) {
  if (q.cols() != kCrpsSteps) {
    fail(ErrorCode::kShapeMismatch, "crps: {} columns of quantiles, but crps_levels() has {}",
         q.cols(), kCrpsSteps);
  }
  check_rows("crps", y, q);

  return 2.0 * mean_pinball(y, q, crps_levels());
}

std::vector<double> pit_histogram(std::span<const double> y, MatrixView q) {
  check_rows("pit_histogram", y, q);

  std::vector<CompensatedSum> mass(q.cols() + 1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Counting instead of searching: it does not mind a row whose quantiles cross.
    std::size_t below = 0;
    std::size_t ties = 0;
    for (const double value : q.row(i)) {
      below += value < y[i] ? 1u : 0u;
      ties += value == y[i] ? 1u : 0u;
    }
    if (ties == 0) {
      mass[below].add(1.0);
      continue;
    }
    // Bin b lies between quantiles b - 1 and b. A mass takes up the bins between equal quantiles,
    // and of those next to them a half on average; at an end of the law most likely the whole.
    const std::size_t last = below + ties;
    const double first_part = below == 0 && ties > 1 ? 1.0 : 0.5;
    const double last_part = last == q.cols() && ties > 1 ? 1.0 : 0.5;
    const double whole = first_part + static_cast<double>(ties - 1) + last_part;
    for (std::size_t b = below; b <= last; ++b) {
      const double part = b == below ? first_part : b == last ? last_part : 1.0;
      mass[b].add(part / whole);
    }
  }
  std::vector<double> shares;
  shares.reserve(mass.size());
  for (const CompensatedSum& m : mass) {
    shares.push_back(m.value() / static_cast<double>(y.size()));
  }
  return shares;
}

}  // namespace tare
