// SPDX-License-Identifier: BSD-3-Clause
#include "tare/evaluate/target_jumps.h"

#include <algorithm>
#include <numeric>

#include "evaluate/checks.h"

namespace tare {
namespace {

/// The levels with 0 before and 1 behind them, ascending, and which column each has.
struct SortedLevels {
  std::vector<double> tau;
  std::vector<std::size_t> column;

  explicit SortedLevels(std::span<const Level> levels) : column(levels.size()) {
    std::iota(column.begin(), column.end(), std::size_t{0});
    std::ranges::stable_sort(column, {}, [&](std::size_t j) { return levels[j].value(); });
    tau.push_back(0.0);
    for (const std::size_t j : column) tau.push_back(levels[j].value());
    tau.push_back(1.0);
  }
};

TargetJump find_jump(double y, std::span<const double> q, const SortedLevels& levels) {
  const std::size_t count = q.size();
  const auto hit = [&](std::size_t k) { return q[levels.column[k]] == y; };
  std::size_t first = 0;
  while (first < count && !hit(first)) ++first;
  if (first == count) return {};
  std::size_t last = count - 1;
  while (!hit(last)) --last;
  // Level k of all is tau[k + 1].
  const bool wide = levels.tau[first + 1] < levels.tau[last + 1];
  TargetJump jump;
  jump.low = first == 0 && wide ? 0.0 : 0.5 * (levels.tau[first] + levels.tau[first + 1]);
  jump.high = last + 1 == count && wide ? 1.0 : 0.5 * (levels.tau[last + 1] + levels.tau[last + 2]);
  return jump;
}

}  // namespace

std::vector<TargetJump> target_jumps(std::span<const double> y, MatrixView q,
                                     std::span<const Level> levels) {
  check_rows("target_jumps", y, q);
  check_levels("target_jumps", q, levels);

  const SortedLevels sorted(levels);
  std::vector<TargetJump> jumps(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) jumps[i] = find_jump(y[i], q.row(i), sorted);
  return jumps;
}

}  // namespace tare
