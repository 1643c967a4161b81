// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee_ranks.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// The first knot at which the cumulative count reaches `rank`; the last one reaches it.
std::size_t knot_of_rank(std::span<const std::int32_t> at_most, std::uint64_t rank) {
  const auto reached = [](std::int32_t count, std::uint64_t wanted) {
    return static_cast<std::uint64_t>(count) < wanted;
  };
  return static_cast<std::size_t>(std::lower_bound(at_most.begin(), at_most.end(), rank, reached) -
                                  at_most.begin());
}

bool is_cumulative(std::span<const std::int32_t> counts) {
  return !counts.empty() && counts.front() >= 0 && std::ranges::is_sorted(counts);
}

}  // namespace

RowScore score_row(std::span<const double> quantiles, double y) {
  const auto first = std::lower_bound(quantiles.begin(), quantiles.end(), y);
  const auto past = std::upper_bound(first, quantiles.end(), y);
  RowScore score;
  score.upper = static_cast<std::int32_t>(first - quantiles.begin());
  score.lower = static_cast<std::int32_t>(past - quantiles.begin()) - 1;
  if (first == quantiles.end()) {
    score.beyond = y - quantiles.back();
  } else if (past == quantiles.begin()) {
    score.beyond = y - quantiles.front();
  }
  return score;
}

GuaranteeRanks::GuaranteeRanks(std::span<const RowScore> scores, std::size_t knots)
    : rows_(scores.size()), upper_below_(knots), lower_below_(knots) {
  const auto count = static_cast<std::int32_t>(knots);
  for (const RowScore& score : scores) {
    if (score.upper < count) ++upper_below_[static_cast<std::size_t>(score.upper)];
    if (score.upper == count) above_.push_back(score.beyond);
    if (score.lower >= 0) ++lower_below_[static_cast<std::size_t>(score.lower)];
    if (score.lower < 0) below_.push_back(score.beyond);
  }
  std::partial_sum(upper_below_.begin(), upper_below_.end(), upper_below_.begin());
  std::partial_sum(lower_below_.begin(), lower_below_.end(), lower_below_.begin());
  std::ranges::sort(above_);
  std::ranges::sort(below_);
}

KnotPlace GuaranteeRanks::upper_place(std::uint64_t rank) const {
  const std::size_t last = upper_below_.size() - 1;
  if (rank > rows_) return {last, kUnbounded};
  const std::uint64_t within = rows_ - above_.size();
  if (rank > within) return {last, above_[rank - within - 1]};
  return {knot_of_rank(upper_below_, rank), 0.0};
}

KnotPlace GuaranteeRanks::lower_place(std::uint64_t rank) const {
  if (rank < 1) return {0, -kUnbounded};
  if (rank <= below_.size()) return {0, below_[rank - 1]};
  return {knot_of_rank(lower_below_, rank - below_.size()), 0.0};
}

KnotPlace GuaranteeRanks::place(Level level) const {
  const std::uint64_t count = rows_ + 1;
  if (level.value() >= 0.5) return upper_place(level.rank(count));
  const KnotPlace lower = lower_place(level.rank_below(count));
  const KnotPlace middle = upper_place(Level(0.5).rank(count));
  return lower.knot <= middle.knot ? lower : middle;
}

double GuaranteeRanks::delivered(Level level) const {
  const std::uint64_t count = rows_ + 1;
  const std::uint64_t rank = level.value() >= 0.5 ? level.rank(count) : level.rank_below(count);
  return static_cast<double>(rank) / static_cast<double>(count);
}

GuaranteeRanks GuaranteeRanks::from_counts(Counts counts) {
  const auto finite_order = [](std::span<const double> values) {
    return std::ranges::is_sorted(values) &&
           std::ranges::none_of(values, [](double value) { return value != value; });
  };
  const bool lengths = counts.upper.size() == counts.lower.size();
  if (!lengths || !is_cumulative(counts.upper) || !is_cumulative(counts.lower) ||
      !finite_order(counts.above) || !finite_order(counts.below) ||
      (!counts.above.empty() && !(counts.above.front() >= 0.0)) ||
      (!counts.below.empty() && !(counts.below.back() <= 0.0)) ||
      static_cast<std::size_t>(counts.upper.back()) + counts.above.size() !=
          static_cast<std::size_t>(counts.lower.back()) + counts.below.size()) {
    fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  }
  GuaranteeRanks ranks;
  ranks.rows_ = static_cast<std::size_t>(counts.upper.back()) + counts.above.size();
  ranks.upper_below_ = std::move(counts.upper);
  ranks.lower_below_ = std::move(counts.lower);
  ranks.above_ = std::move(counts.above);
  ranks.below_ = std::move(counts.below);
  return ranks;
}

}  // namespace tare
