// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/snq/shards/fixed_sum.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// Where the quantiles of some queries lie among shards.
struct ShardPlan {
  struct Pick {
    std::uint32_t shard = 0;
    FixedSum target = 0;  // within the shard
  };
  std::vector<Pick> picks;
  std::vector<std::size_t> first;  // picks of query i: from first[i] up to first[i + 1]
};

/// The weights of windows: those of each query in the first shard, then in the second, in the order
/// of their residuals; and the exponent of each query's unit, 0 for weights that are whole numbers.
struct ShardSums {
  std::span<const WindowSums> sums;
  std::span<const std::int32_t> exponent;
};

/// Levels ascend. Every query has a positive sum; kInvalidArgument otherwise.
ShardPlan plan_picks(const ShardSums& sums, std::span<const Level> levels, Ranks ranks);

/// The quantiles, from the values of the plan's picks in their order.
Matrix finish_picks(const ShardSums& sums, std::span<const Level> levels, Ranks ranks,
                    std::span<const double> values);

}  // namespace tare
