// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "evaluate/checks.h"
#include "math/compensated_sum.h"
#include "tare/evaluate/metrics.h"

namespace tare {
namespace {

std::vector<double> shares_of(const std::vector<CompensatedSum>& mass, std::size_t rows) {
  std::vector<double> shares;
  shares.reserve(mass.size());
  for (const CompensatedSum& m : mass) shares.push_back(m.value() / static_cast<double>(rows));
  return shares;
}

}  // namespace

std::vector<double> pit_histogram(std::span<const double> y, MatrixView q) {
  check_rows("pit_histogram", y, q);

  std::vector<CompensatedSum> mass(q.cols() + 1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Counting instead of searching also works for a row whose quantiles cross.
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
    // and of those next to them a half on average; at an end of the distribution most likely the
    // whole.
    const std::size_t last = below + ties;
    const double first_part = below == 0 && ties > 1 ? 1.0 : 0.5;
    const double last_part = last == q.cols() && ties > 1 ? 1.0 : 0.5;
    const double whole = first_part + static_cast<double>(ties - 1) + last_part;
    for (std::size_t b = below; b <= last; ++b) {
      const double part = b == below ? first_part : b == last ? last_part : 1.0;
      mass[b].add(part / whole);
    }
  }
  return shares_of(mass, y.size());
}

std::vector<double> pit_histogram(std::span<const double> y, MatrixView q,
                                  std::span<const Level> edges, std::span<const TargetJump> jumps) {
  check_rows("pit_histogram", y, q);
  check_levels("pit_histogram", q, edges);
  check_jumps("pit_histogram", y, jumps);

  std::vector<CompensatedSum> mass(q.cols() + 1);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto row = q.row(i);
    if (jumps[i].empty() || std::ranges::find(row, y[i]) == row.end()) {
      const auto below = std::ranges::count_if(row, [&](double value) { return value < y[i]; });
      mass[static_cast<std::size_t>(below)].add(1.0);
      continue;
    }
    double before = 0.0;
    for (std::size_t b = 0; b < mass.size(); ++b) {
      const double up_to = b < edges.size() ? jumps[i].share(edges[b].value()) : 1.0;
      if (up_to > before) mass[b].add(up_to - before);
      before = std::max(before, up_to);
    }
  }
  return shares_of(mass, y.size());
}

}  // namespace tare
