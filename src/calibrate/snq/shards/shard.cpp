// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/shards/shard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr std::size_t kShardBlockRows = 2048;
constexpr std::size_t kShardQueries = 16;  // that a thread takes at a time

void check_shard_rows(MatrixView z, std::span<const double> u, std::span<const double> weight) {
  if (z.rows() != u.size() || (!weight.empty() && weight.size() != u.size())) {
    fail(ErrorCode::kShapeMismatch, "Shard: {} rows of features, {} residuals, {} weights",
         z.rows(), u.size(), weight.size());
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    const auto row = z.row(i);
    if (!std::isfinite(u[i]) ||
        !std::all_of(row.begin(), row.end(), [](double v) { return std::isfinite(v); })) {
      fail(ErrorCode::kInvalidArgument, "Shard: row {} has a value that is not finite", i);
    }
    if (!weight.empty() && !(weight[i] >= 0.0 && std::isfinite(weight[i]))) {
      fail(ErrorCode::kInvalidArgument, "Shard: row {} has the weight {}", i, weight[i]);
    }
  }
}

void check_windows(const ShardWindows& windows) {
  if (windows.reach2.size() == windows.z.rows() && windows.exponent.size() == windows.z.rows()) {
    return;
  }
  fail(ErrorCode::kShapeMismatch, "Shard: {} queries, {} windows, {} units", windows.z.rows(),
       windows.reach2.size(), windows.exponent.size());
}

}  // namespace

/// Of a thread.
struct Shard::Memory {
  LocalSample::Scratch scratch;  // squared_distance and weight are used
};

Shard::Shard(MatrixView z, std::span<const double> u, std::span<const double> weight,
             KernelKind kernel, double bandwidth)
    : dims_(z.cols()), kernel_(kernel), bandwidth_(bandwidth) {
  check_shard_rows(z, u, weight);
  const std::vector<std::size_t> order = residual_order(u, weight);
  rows_ = order.size();
  for (std::size_t first = 0; first < rows_; first += kShardBlockRows) {
    const std::size_t count = std::min(kShardBlockRows, rows_ - first);
    blocks_.emplace_back(z, u, weight, std::span(order).subspan(first, count));
  }
}

void Shard::check(MatrixView z) const {
  if (rows_ == 0 || z.cols() == dims_) return;
  fail(ErrorCode::kShapeMismatch, "Shard: a query has {} features, the rows have {}", z.cols(),
       dims_);
}

/// Fills memory.scratch.weight with the rows' weights.
void Shard::weigh(const LocalSample& block, const ShardWindows& windows, std::size_t query,
                  Memory& memory) const {
  auto& scratch = memory.scratch;
  block.measure(windows.z.row(query), scratch);
  scratch.weight.resize(block.rows());
  const double reach2 = windows.reach2[query];
  if (std::isnan(reach2)) {
    kernel_weights(kernel_, bandwidth_, scratch.squared_distance, scratch.weight);
  } else {
    for (std::size_t i = 0; i < block.rows(); ++i) {
      scratch.weight[i] = scratch.squared_distance[i] <= reach2 ? 1.0 : 0.0;
    }
  }
  const auto weights = block.weights();
  for (std::size_t i = 0; i < weights.size(); ++i) scratch.weight[i] *= weights[i];
}

/// Rows of a window of equal weights.
std::uint64_t Shard::count_within(const LocalSample& block, const ShardWindows& windows,
                                  std::size_t query, Memory& memory) const {
  block.measure(windows.z.row(query), memory.scratch);
  const double reach2 = windows.reach2[query];
  std::uint64_t count = 0;
  for (const double r2 : memory.scratch.squared_distance) count += r2 <= reach2 ? 1 : 0;
  return count;
}

/// As weigh, in the window's unit.
void Shard::weigh_in_units(const LocalSample& block, const ShardWindows& windows, std::size_t query,
                           Memory& memory) const {
  weigh(block, windows, query, memory);
  const int exponent = windows.exponent[query];
  if (exponent == 0) return;
  // Two factors: 2^-exponent itself may be too large for a double.
  const int half = -exponent / 2;
  const double first = std::ldexp(1.0, half);
  const double second = std::ldexp(1.0, -exponent - half);
  constexpr double kMost = 0x1.0p62;
  for (double& weight : memory.scratch.weight) weight = std::min(weight * first * second, kMost);
}

std::vector<WindowSums> Shard::sums(const ShardWindows& windows, const Execution& how) const {
  check(windows.z);
  check_windows(windows);
  std::vector<WindowSums> result(windows.z.rows());
  parallel_blocks(how, result.size(), kShardQueries, [&](std::size_t first, std::size_t last) {
    Memory memory;
    constexpr double kSquareUnit = 0x1.0p-62;
    for (const LocalSample& block : blocks_) {
      for (std::size_t i = first; i < last; ++i) {
        if (windows.exponent[i] == 0 && block.weights().empty()) {  // squares of 1 are 1
          const std::uint64_t count = count_within(block, windows, i, memory);
          result[i].total += count;
          result[i].squares += count;
          continue;
        }
        weigh_in_units(block, windows, i, memory);
        for (const double weight : memory.scratch.weight) {
          const FixedSum fixed = fixed_weight(weight);
          result[i].total += fixed;
          result[i].squares += windows.exponent[i] == 0
                                   ? fixed * fixed
                                   : FixedSum{fixed_weight(weight * (weight * kSquareUnit))};
        }
      }
    }
  });
  return result;
}

std::vector<double> Shard::largest_weights(const ShardWindows& windows,
                                           const Execution& how) const {
  check(windows.z);
  check_windows(windows);
  std::vector<double> result(windows.z.rows(), 0.0);
  parallel_blocks(how, result.size(), kShardQueries, [&](std::size_t first, std::size_t last) {
    Memory memory;
    for (const LocalSample& block : blocks_) {
      for (std::size_t i = first; i < last; ++i) {
        weigh(block, windows, i, memory);
        for (const double weight : memory.scratch.weight) result[i] = std::max(result[i], weight);
      }
    }
  });
  return result;
}

Matrix Shard::distances(MatrixView z, std::span<const std::size_t> ranks,
                        const Execution& how) const {
  check(z);
  Matrix result(z.rows(), ranks.size());
  if (ranks.empty()) return result;
  const std::size_t most = std::min(ranks.back(), rows_);
  parallel_for(how, z.rows(), [&](std::size_t i) {
    Memory memory;
    std::vector<double> kept;  // the `most` smallest and some more
    double limit = std::numeric_limits<double>::infinity();
    const auto cut = [&] {
      if (kept.size() <= most || most == 0) return;
      const auto end = kept.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(kept.begin(), end - 1, kept.end());
      kept.erase(end, kept.end());
      limit = kept.back();
    };
    for (const LocalSample& block : blocks_) {
      block.measure(z.row(i), memory.scratch);
      for (const double r2 : memory.scratch.squared_distance) {
        if (r2 < limit || kept.size() < most) kept.push_back(r2);
      }
      if (kept.size() >= 2 * most) cut();
    }
    cut();
    std::ranges::sort(kept);
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      const bool is_there = ranks[j] >= 1 && ranks[j] <= kept.size();
      result(i, j) = is_there ? kept[ranks[j] - 1] : std::numeric_limits<double>::infinity();
    }
  });
  return result;
}

std::vector<DistancesBetween> Shard::between(MatrixView z, std::span<const double> low,
                                             std::span<const double> high,
                                             const Execution& how) const {
  check(z);
  if (low.size() != z.rows() || high.size() != z.rows()) {
    fail(ErrorCode::kShapeMismatch, "Shard: {} queries, {} and {} limits", z.rows(), low.size(),
         high.size());
  }
  std::vector<DistancesBetween> result(z.rows());
  parallel_blocks(how, z.rows(), kShardQueries, [&](std::size_t first, std::size_t last) {
    Memory memory;
    for (const LocalSample& block : blocks_) {
      for (std::size_t i = first; i < last; ++i) {
        block.measure(z.row(i), memory.scratch);
        for (const double r2 : memory.scratch.squared_distance) {
          if (r2 <= low[i]) {
            ++result[i].below;
          } else if (r2 <= high[i]) {
            result[i].squared.push_back(r2);
          }
        }
      }
    }
    for (std::size_t i = first; i < last; ++i) std::ranges::sort(result[i].squared);
  });
  return result;
}

std::vector<double> Shard::pick(const ShardWindows& windows, std::span<const ShardPick> picks,
                                const Execution& how) const {
  check(windows.z);
  check_windows(windows);
  std::vector<std::size_t> starts;  // of the picks of each query that has any
  for (std::size_t k = 0; k < picks.size(); ++k) {
    if (picks[k].query >= windows.z.rows()) {
      fail(ErrorCode::kInvalidArgument, "Shard: a pick for query {} of {}", picks[k].query,
           windows.z.rows());
    }
    if (k == 0 || picks[k].query != picks[k - 1].query) starts.push_back(k);
  }
  starts.push_back(picks.size());
  std::vector<double> result(picks.size());
  parallel_for(how, starts.size() - 1, [&](std::size_t s) {
    Memory memory;
    std::size_t next = starts[s];
    const std::size_t end = starts[s + 1];
    const std::size_t query = picks[next].query;
    FixedSum reached = 0;
    for (const LocalSample& block : blocks_) {
      if (next == end) break;
      weigh_in_units(block, windows, query, memory);
      for (std::size_t i = 0; i < block.rows() && next < end; ++i) {
        reached += fixed_weight(memory.scratch.weight[i]);
        for (; next < end && reached >= picks[next].target; ++next) {
          result[next] = block.residuals()[i];
        }
      }
    }
    if (next == end) return;
    fail(ErrorCode::kInvalidArgument, "Shard: a target of query {} exceeds the window's sum",
         query);
  });
  return result;
}

}  // namespace tare
