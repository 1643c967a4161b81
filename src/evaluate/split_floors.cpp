// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/binomial_deviation.h"
#include "evaluate/checks.h"
#include "evaluate/groups.h"
#include "math/compensated_sum.h"
#include "tare/evaluate/metrics.h"

// A perfect forecaster's randomised PIT V is uniform on [0, 1], and a target only tells in which
// jump V lies. The share S(tau) = P(V <= tau | jump) has mean tau and variance tau (1 - tau) - E[S
// (1 - S)], and S (1 - S) is 0 for a row that is no tie: the mean over the rows estimates how much
// the ties take away from the binomial variance.

namespace tare {
namespace {

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

/// PIT values of the rows, ascending, each with its jump. For a simulated PIT value, the jump is
/// that of the nearest row.
class JumpMap {
 public:
  JumpMap(std::span<const double> y, MatrixView q, std::span<const double> sorted_levels,
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
    std::ranges::sort(rows_, {}, &Row::pit);
  }

  /// The jump around a PIT value; empty if there is none.
  TargetJump around(double pit) const {
    auto next = std::ranges::lower_bound(rows_, pit, {}, &Row::pit);
    if (next == rows_.end() ||
        (next != rows_.begin() && pit - std::prev(next)->pit < next->pit - pit)) {
      --next;
    }
    const TargetJump& jump = next->jump;
    return pit > jump.low && pit <= jump.high ? jump : TargetJump{};
  }

 private:
  struct Row {
    double pit;
    TargetJump jump;
  };
  std::vector<Row> rows_;
};

/// The worst MACE of the groups of one perfect forecast.
double simulate_worst(std::size_t rows, std::span<const double> sorted, const JumpMap& map,
                      Seed seed) {
  struct Drawn {
    double pit;
    TargetJump jump;
  };
  std::vector<Drawn> drawn(rows);
  Rng rng(split(seed, kAgceGroups));  // the groups take the streams below
  for (Drawn& one : drawn) {
    one.pit = rng.uniform();
    one.jump = map.around(one.pit);
  }
  std::vector<double> sums(sorted.size());
  return worst_group(rows, seed, [&](std::span<const std::size_t> group) {
    std::ranges::fill(sums, 0.0);
    for (const std::size_t i : group) {
      const auto& [pit, jump] = drawn[i];
      for (std::size_t j = 0; j < sorted.size(); ++j) {
        sums[j] += jump.empty() ? (pit <= sorted[j] ? 1.0 : 0.0) : jump.share(sorted[j]);
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
  const JumpMap map(y, q, sorted, column, jumps, Rng(split(seed, repeats)));
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
