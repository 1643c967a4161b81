// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <numeric>

#include "base/fail.h"
#include "evaluate/checks.h"
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

/// E|B / n - tau| for B ~ Binomial(n, tau), n >= 1 and whole, 0 < tau < 1.
// De Moivre: E|B - n tau| = 2 k (1 - tau) P(B = k) with k = floor(n tau) + 1.
double mean_absolute_deviation(double n, double tau) {
  const double k = std::min(std::floor(n * tau) + 1.0, n);
  return 2.0 * k * (1.0 - tau) * central_probability(n, k, tau) / n;
}

}  // namespace

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

namespace {

// Where targets repeat: a perfect forecaster's place V in its distribution is uniform on [0, 1],
// and a target only tells in which jump it lies. The share S(tau) = P(V <= tau | jump) has mean tau
// and variance tau (1 - tau) - E[S (1 - S)], and S (1 - S) is 0 for a row that is no tie: the mean
// over the rows estimates how much the ties take away from the binomial variance.

bool any_jump(std::span<const TargetJump> jumps) {
  return std::ranges::any_of(jumps, [](const TargetJump& jump) { return !jump.empty(); });
}

/// By how much the standard deviation at each level is smaller than the binomial one.
std::vector<double> spread_left(std::span<const double> y, MatrixView q,
                                std::span<const Level> levels, std::span<const TargetJump> jumps) {
  std::vector<double> taken(levels.size(), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (jumps[i].empty()) continue;
    for (std::size_t j = 0; j < levels.size(); ++j) {
      const double share = share_below(y[i], q(i, j), levels[j].value(), jumps[i]);
      taken[j] += share * (1.0 - share);
    }
  }
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const double tau = levels[j].value();
    const double part = taken[j] / static_cast<double>(y.size()) / (tau * (1.0 - tau));
    taken[j] = std::sqrt(std::max(0.0, 1.0 - part));
  }
  return taken;
}

double floor_of_rows(std::size_t rows, std::span<const Level> levels,
                     std::span<const double> spread) {
  CompensatedSum sum;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    sum.add(spread[j] * mean_absolute_deviation(static_cast<double>(rows), levels[j].value()));
  }
  return sum.value() / static_cast<double>(levels.size());
}

/// Where rows lie in their distributions, ascending, each with its jump: which jump a perfect
/// forecaster's place falls into is taken from the row that is nearest to it.
class PlaceMap {
 public:
  PlaceMap(std::span<const double> y, MatrixView q, std::span<const double> sorted_levels,
           std::span<const std::size_t> column, std::span<const TargetJump> jumps, Rng rng) {
    const std::size_t count = sorted_levels.size();
    for (std::size_t i = 0; i < y.size(); ++i) {
      double low = jumps[i].low, high = jumps[i].high;
      if (jumps[i].empty()) {
        std::size_t below = 0;
        for (const std::size_t j : column) below += y[i] > q(i, j) ? 1u : 0u;
        low = below == 0 ? 0.0 : sorted_levels[below - 1];
        high = below == count ? 1.0 : sorted_levels[below];
      }
      rows_.push_back({low + (high - low) * rng.uniform(), jumps[i]});
    }
    std::ranges::sort(rows_, {}, &Row::place);
  }

  /// The jump around a place; empty where there is none.
  TargetJump around(double place) const {
    auto next = std::ranges::lower_bound(rows_, place, {}, &Row::place);
    if (next == rows_.end() ||
        (next != rows_.begin() && place - std::prev(next)->place < next->place - place)) {
      --next;
    }
    const TargetJump& jump = next->jump;
    return place > jump.low && place <= jump.high ? jump : TargetJump{};
  }

 private:
  struct Row {
    double place;
    TargetJump jump;
  };
  std::vector<Row> rows_;
};

/// The worst MACE of the groups of one perfect forecast.
double simulate_worst(std::size_t rows, std::span<const double> sorted, const PlaceMap& map,
                      Seed seed) {
  struct Drawn {
    double place;
    TargetJump jump;
  };
  std::vector<Drawn> drawn(rows);
  Rng rng(split(seed, kAgceGroups));  // the groups take the streams below
  for (Drawn& one : drawn) {
    one.place = rng.uniform();
    one.jump = map.around(one.place);
  }
  std::vector<double> sums(sorted.size());
  return worst_group(rows, seed, [&](std::span<const std::size_t> group) {
    std::ranges::fill(sums, 0.0);
    for (const std::size_t i : group) {
      const auto& [place, jump] = drawn[i];
      for (std::size_t j = 0; j < sorted.size(); ++j) {
        sums[j] += jump.empty() ? (place <= sorted[j] ? 1.0 : 0.0) : jump.share(sorted[j]);
      }
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      sum += std::fabs(sorted[j] - sums[j] / static_cast<double>(group.size()));
    }
    return sum / static_cast<double>(sorted.size());
  });
}

}  // namespace

double split_mace_floor(std::span<const double> y, MatrixView q, std::span<const Level> levels,
                        std::span<const TargetJump> jumps) {
  check_rows("split_mace_floor", y, q);
  check_levels("split_mace_floor", q, levels);
  check_jumps("split_mace_floor", y, jumps);

  return floor_of_rows(y.size(), levels, spread_left(y, q, levels, jumps));
}

double split_agce_floor(std::span<const double> y, MatrixView q, std::span<const Level> levels,
                        Seed seed, std::span<const TargetJump> jumps) {
  check_rows("split_agce_floor", y, q);
  check_levels("split_agce_floor", q, levels);
  check_jumps("split_agce_floor", y, jumps);
  if (!any_jump(jumps)) return agce_floor(y.size(), levels, seed);

  constexpr std::size_t kMaxRows = 1000;  // as for agce_floor
  constexpr std::size_t kRowBudget = 200'000;
  constexpr std::size_t kMaxRepeats = 2000;
  const std::size_t simulated = std::min(y.size(), kMaxRows);
  const std::size_t repeats = std::min(kRowBudget / simulated, kMaxRepeats);
  std::vector<std::size_t> column(levels.size());
  std::iota(column.begin(), column.end(), std::size_t{0});
  std::ranges::stable_sort(column, {}, [&](std::size_t j) { return levels[j].value(); });
  std::vector<double> sorted;
  for (const std::size_t j : column) sorted.push_back(levels[j].value());
  const PlaceMap map(y, q, sorted, column, jumps, Rng(split(seed, repeats)));
  CompensatedSum sum;
  for (std::uint64_t r = 0; r < repeats; ++r) {
    sum.add(simulate_worst(simulated, sorted, map, split(seed, r)));
  }
  const double floor = sum.value() / static_cast<double>(repeats);
  const std::vector<double> spread = spread_left(y, q, levels, jumps);
  const double group = floor_of_rows(agce_group_size(simulated), levels, spread);
  if (simulated == y.size() || !(group > 0.0)) return floor;
  return floor * floor_of_rows(agce_group_size(y.size()), levels, spread) / group;
}

}  // namespace tare
