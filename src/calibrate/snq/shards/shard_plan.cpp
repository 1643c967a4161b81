// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/shards/shard_plan.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "calibrate/snq/window/rank_rule.h"

namespace tare {
namespace {

struct QuerySums {
  FixedSum total = 0;
  double effective_size = 0.0;
  double weight = 0.0;  // total, in units of 1
};

QuerySums add_shards(const ShardSums& sums, std::size_t query) {
  const std::size_t queries = sums.exponent.size();
  QuerySums result;
  FixedSum squares = 0;
  for (std::size_t at = query; at < sums.sums.size(); at += queries) {
    result.total += sums.sums[at].total;
    squares += sums.sums[at].squares;
  }
  if (result.total == 0) {
    fail(ErrorCode::kInvalidArgument, "the window of query {} has no weight", query);
  }
  const auto total = static_cast<double>(result.total);
  result.weight = std::ldexp(total, sums.exponent[query]);
  // Squares of the smallest weights round down to 0; there is always one row.
  const int square_unit = sums.exponent[query] == 0 ? 0 : kFixedBits;
  const double square = std::ldexp(std::max(1.0, static_cast<double>(squares)), square_unit);
  result.effective_size = std::max(1.0, total * (total / square));
  return result;
}

/// In units of the query, from 1 up to the sum.
FixedSum target_units(double target, const ShardSums& sums, std::size_t query, FixedSum total) {
  const double units = std::ceil(std::ldexp(target, -sums.exponent[query]));
  if (!(units >= 1.0)) return 1;
  if (units >= static_cast<double>(total)) return total;
  return static_cast<FixedSum>(units);
}

WeightType weight_type(const ShardSums& sums, std::size_t query) {
  return sums.exponent[query] == 0 ? WeightType::kWhole : WeightType::kReal;
}

void check_sums(const ShardSums& sums) {
  const std::size_t queries = sums.exponent.size();
  if (queries == 0 ? sums.sums.empty() : sums.sums.size() % queries == 0) return;
  fail(ErrorCode::kShapeMismatch, "{} sums of {} queries", sums.sums.size(), queries);
}

}  // namespace

ShardPlan plan_picks(const ShardSums& sums, std::span<const Level> levels, Ranks ranks) {
  check_sums(sums);
  const std::size_t queries = sums.exponent.size();
  ShardPlan plan;
  plan.first.push_back(0);
  RankRule rule(ranks, levels);
  for (std::size_t i = 0; i < queries; ++i) {
    const QuerySums query = add_shards(sums, i);
    std::uint32_t shard = 0;
    FixedSum before = 0;  // the sum of the shards before
    for (const double target :
         rule.targets(query.weight, query.effective_size, weight_type(sums, i))) {
      const FixedSum units = target_units(target, sums, i, query.total);
      while (before + sums.sums[shard * queries + i].total < units) {
        before += sums.sums[shard * queries + i].total;
        ++shard;
      }
      plan.picks.push_back({shard, units - before});
    }
    plan.first.push_back(plan.picks.size());
  }
  return plan;
}

Matrix finish_picks(const ShardSums& sums, std::span<const Level> levels, Ranks ranks,
                    std::span<const double> values) {
  check_sums(sums);
  const std::size_t queries = sums.exponent.size();
  Matrix answer(queries, levels.size());
  RankRule rule(ranks, levels);
  std::size_t first = 0;
  for (std::size_t i = 0; i < queries; ++i) {
    const QuerySums query = add_shards(sums, i);
    const std::size_t count =
        rule.targets(query.weight, query.effective_size, weight_type(sums, i)).size();
    if (first + count > values.size()) {
      fail(ErrorCode::kShapeMismatch, "{} values of picks, more are planned", values.size());
    }
    rule.answer(values.subspan(first, count), answer.row(i));
    first += count;
  }
  return answer;
}

}  // namespace tare
