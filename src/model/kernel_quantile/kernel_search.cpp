// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/kernel_search.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "data/partition.h"
#include "data/rows.h"
#include "math/pinball.h"
#include "model/kernel_quantile/kernel_quantile.h"

namespace tare {
namespace {

constexpr std::array kSearchedPenalties = {1e-2, 1e-3, 1e-4, 1e-5};
constexpr std::array kSearchedWidths = {0.25, 0.5, 1.0, 2.0};
constexpr std::array kScoredLevels = {0.1, 0.5, 0.9};
constexpr std::size_t kSearchFolds = 3;
constexpr std::size_t kFinalists = 4;  // after the first fold

using PenaltyAndWidth = std::pair<double, double>;  // penalty, width in medians of the distance

std::vector<PenaltyAndWidth> pairs_of(const KernelQuantilesOptions& options) {
  std::vector<PenaltyAndWidth> pairs;
  for (const double penalty : kSearchedPenalties) {
    for (const double width : kSearchedWidths) {
      if (options.penalty && penalty != kSearchedPenalties[0]) continue;
      if (options.width && width != kSearchedWidths[0]) continue;
      pairs.emplace_back(options.penalty.value_or(penalty), options.width.value_or(width));
    }
  }
  return pairs;
}

double loss_of(const QuantileRows& rows, const PenaltyAndWidth& pair, double unit,
               const Partition& parts) {
  const QuantileRows train = rows.take(parts.first);
  const QuantileRows test = rows.take(parts.second);
  if (train.y.empty() || test.y.empty()) return 0.0;
  const double width = pair.second * unit;
  const Matrix kernel = kernel_of_rows(train.x, train.x, width, one_thread());
  const Matrix across = kernel_of_rows(test.x, train.x, width, one_thread());
  const std::vector<double> cost = costs_for(train.cost, pair.first);
  double sum = 0.0;
  std::vector<double> start;
  for (const double tau : kScoredLevels) {
    const KernelQuantileFit fit = fit_kernel_quantile({kernel, train.y, cost, Level(tau)},
                                                      {.gap = 1e-2, .most_passes = 30}, start);
    start = fit.a;
    for (std::size_t i = 0; i < test.y.size(); ++i) {
      const std::span<const double> row = across.row(i);
      const double f = std::inner_product(row.begin(), row.end(), fit.a.begin(), fit.b);
      sum += test.cost[i] * pinball_of_error(test.y[i] - f, tau);
    }
  }
  return sum;
}

}  // namespace

std::pair<double, double> search_kernel(const QuantileRows& rows,
                                        const KernelQuantilesOptions& options, double unit,
                                        Seed seed, const Execution& how) {
  const std::vector<PenaltyAndWidth> pairs = pairs_of(options);
  if (pairs.size() == 1) return pairs[0];
  const std::vector<std::size_t> folds = random_folds(rows.y.size(), kSearchFolds, seed);
  std::vector<double> losses(pairs.size(), 0.0);
  std::vector<std::size_t> running = all_rows(pairs.size());
  for (std::size_t fold = 0; fold < kSearchFolds; ++fold) {
    parallel_for(how, running.size(), [&](std::size_t k) {
      losses[running[k]] += loss_of(rows, pairs[running[k]], unit, fold_partition(folds, fold));
    });
    std::ranges::stable_sort(running, {}, [&](std::size_t p) { return losses[p]; });
    running.resize(std::min(running.size(), kFinalists));
  }
  return pairs[running.front()];
}

}  // namespace tare
