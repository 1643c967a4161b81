// SPDX-License-Identifier: BSD-3-Clause
#include "math/weighted_quantile.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "base/fail.h"
#include "math/kernel.h"
#include "math/vector_targets.h"

namespace tare {
namespace {

constexpr std::size_t kLanes = 8;
static_assert(kChunkRows % kLanes == 0);

/// Sum and sum of squares of a group of full length, in eight lanes that are added up at the end:
/// the order is fixed, whatever the processor's vectors are.
TARE_VECTOR_TARGETS void sum_full_chunk(const double* w, double* sum, double* squares) {
  std::array<double, kLanes> a{};
  std::array<double, kLanes> b{};
  for (std::size_t i = 0; i < kChunkRows; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      a[lane] += w[i + lane];
      b[lane] += w[i + lane] * w[i + lane];
    }
  }
  *sum = ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
  *squares = ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + (b[6] + b[7]));
}

}  // namespace

void sum_weights(std::span<const double> weights, WeightSums& sums) {
  sums.chunks.clear();
  sums.total = 0.0;
  sums.squares = 0.0;
  std::size_t i = 0;
  for (; i + kChunkRows <= weights.size(); i += kChunkRows) {
    double sum = 0.0;
    double squares = 0.0;
    sum_full_chunk(weights.data() + i, &sum, &squares);
    sums.chunks.push_back(sum);
    sums.total += sum;
    sums.squares += squares;
  }
  double rest = 0.0;
  for (; i < weights.size(); ++i) {
    rest += weights[i];
    sums.squares += weights[i] * weights[i];
  }
  if (weights.size() % kChunkRows != 0) sums.chunks.push_back(rest);
  sums.total += rest;
}

void weighted_places(std::span<const double> weights, const WeightSums& sums,
                     std::span<const double> targets, std::span<std::size_t> out) {
  assert(sums.total > 0.0 && "a sample without weight has no quantile");
  const std::size_t n = weights.size();
  std::size_t last_positive = n - 1;
  while (weights[last_positive] <= 0.0) --last_positive;

  // One pass for all targets: over whole groups while the target lies beyond them, over the rows of
  // the group that contains it. `reached` is the weight of all rows before `next`.
  std::size_t next = 0;
  double reached = 0.0;
  std::size_t answer = last_positive;
  double answer_reached = -1.0;  // weight up to and with `answer`; negative before the first answer
  for (std::size_t j = 0; j < targets.size(); ++j) {
    const double target = targets[j];
    while (answer_reached < target && next < n) {
      if (next % kChunkRows == 0) {
        const double whole = sums.chunks[next / kChunkRows];
        if (reached + whole < target) {
          reached += whole;
          next = std::min(n, next + kChunkRows);
          continue;
        }
      }
      if (weights[next] > 0.0) {
        reached += weights[next];
        answer = next;
        answer_reached = reached;
      }
      ++next;
    }
    // Rounding can leave a target out of reach of the last row.
    out[j] = answer_reached < target ? last_positive : answer;
  }
}

double level_target(const Level& level, double total, WeightType type) {
  return type == WeightType::kWhole
             ? static_cast<double>(level.rank(static_cast<std::uint64_t>(total)))
             : level.value() * total * (1.0 - kTieSlack);
}

void weighted_quantile_places(std::span<const double> weights, const WeightSums& sums,
                              WeightType type, std::span<const Level> levels,
                              std::span<std::size_t> out) {
  thread_local std::vector<double> targets;
  targets.resize(levels.size());
  for (std::size_t j = 0; j < levels.size(); ++j) {
    targets[j] = level_target(levels[j], sums.total, type);
  }
  weighted_places(weights, sums, targets, out);
}

double weighted_quantile(std::span<const double> values, std::span<const double> weights,
                         const Level& tau) {
  if (!weights.empty() && values.size() != weights.size()) {
    fail(ErrorCode::kShapeMismatch, "weighted_quantile: {} values but {} weights", values.size(),
         weights.size());
  }
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::size_t place = 0;
  if (weights.empty()) {
    if (values.empty()) fail(ErrorCode::kInvalidArgument, "weighted_quantile: no values");
    place = static_cast<std::size_t>(tau.rank(values.size())) - 1;
  } else {
    std::vector<double> sorted(weights.size());
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = weights[order[i]];
    WeightSums sums;
    sum_weights(sorted, sums);
    if (!(sums.total > 0.0)) {
      fail(ErrorCode::kInvalidArgument, "weighted_quantile: the weights sum to {}", sums.total);
    }
    weighted_quantile_places(sorted, sums, WeightType::kReal, {&tau, 1}, {&place, 1});
  }
  return values[order[place]];
}

}  // namespace tare
