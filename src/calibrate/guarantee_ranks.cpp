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
constexpr Mass kMostMass = Mass{1} << 56;  // of a fold in a file: sums cannot overflow

using Outside = GuaranteeRanks::Outside;

/// The first knot at which the cumulative mass reaches `target`; the last one reaches it.
std::size_t knot_of_mass(std::span<const Mass> at_most, Mass target) {
  return static_cast<std::size_t>(std::ranges::lower_bound(at_most, target) - at_most.begin());
}

/// How far outside the row lies at which the cumulative mass reaches `target`; the last reaches it.
double outside_of_mass(std::span<const Outside> rows, Mass target) {
  Mass reached = 0;
  for (const Outside& row : rows) {
    reached += row.mass;
    if (reached >= target) return row.beyond;
  }
  return rows.back().beyond;
}

Mass sum_of(std::span<const Outside> rows) {
  return std::accumulate(rows.begin(), rows.end(), Mass{0},
                         [](Mass sum, const Outside& row) { return sum + row.mass; });
}

bool is_cumulative(std::span<const Mass> masses) {
  return !masses.empty() && std::ranges::is_sorted(masses) && masses.back() <= kMostMass;
}

/// Ascending, on the right side of 0, no NaN, and with masses that cannot overflow.
bool are_outside(std::span<const Outside> rows, double least, double most) {
  Mass sum = 0;
  double last = least;
  for (const Outside& row : rows) {
    if (!(row.beyond >= last && row.beyond <= most)) return false;
    if (row.mass < 1 || row.mass > kMostMass - sum) return false;
    sum += row.mass;
    last = row.beyond;
  }
  return true;
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

void draw_within_mass(std::span<const Level> knots, Rng& rng, RowScore& score) {
  if (score.lower <= score.upper) return;
  const auto first = knots.begin() + score.upper;
  const auto last = knots.begin() + score.lower;
  const double drawn = rng.uniform(first->value(), last->value());
  const auto next = std::find_if(first, last, [&](Level knot) { return knot.value() >= drawn; });
  score.upper = static_cast<std::int32_t>(next - knots.begin());
  score.lower = next->value() > drawn ? score.upper - 1 : score.upper;
}

Mass upper_target(Level level, Mass all, Mass fresh) { return level.rank(all + fresh); }

/// The mirror image: of all mass, at least the share 1 - tau must lie at or above the bound, and
/// the new row's own lies below it.
Mass lower_target(Level level, Mass all, Mass fresh) {
  const Mass allowed = level.rank_below(all + fresh);
  return allowed < fresh ? 0 : allowed - fresh + 1;
}

GuaranteeRanks::GuaranteeRanks(std::span<const RowScore> scores, std::size_t knots)
    : rows_(scores.size()), upper_below_(knots), lower_below_(knots) {
  const auto count = static_cast<std::int32_t>(knots);
  for (const RowScore& score : scores) {
    largest_ = std::max(largest_, score.mass);
    if (score.upper < count) upper_below_[static_cast<std::size_t>(score.upper)] += score.mass;
    if (score.upper == count) above_.push_back({score.beyond, score.mass});
    if (score.lower >= 0) lower_below_[static_cast<std::size_t>(score.lower)] += score.mass;
    if (score.lower < 0) below_.push_back({score.beyond, score.mass});
  }
  std::partial_sum(upper_below_.begin(), upper_below_.end(), upper_below_.begin());
  std::partial_sum(lower_below_.begin(), lower_below_.end(), lower_below_.begin());
  // By mass where they tie, so that a file does not depend on the order of the rows.
  const auto before = [](const Outside& a, const Outside& b) {
    return a.beyond != b.beyond ? a.beyond < b.beyond : a.mass < b.mass;
  };
  std::ranges::sort(above_, before);
  std::ranges::sort(below_, before);
  sum_above_ = sum_of(above_);
  sum_below_ = sum_of(below_);
}

KnotPlace GuaranteeRanks::upper_place(Mass target) const {
  const std::size_t last = upper_below_.size() - 1;
  if (target > mass()) return {last, kUnbounded};
  const Mass within = upper_below_.back();
  if (target > within) return {last, outside_of_mass(above_, target - within)};
  return {knot_of_mass(upper_below_, target), 0.0};
}

KnotPlace GuaranteeRanks::lower_place(Mass target) const {
  if (target < 1) return {0, -kUnbounded};
  if (target <= sum_below_) return {0, outside_of_mass(below_, target)};
  return {knot_of_mass(lower_below_, target - sum_below_), 0.0};
}

KnotPlace GuaranteeRanks::place(Level level, Mass fresh) const {
  if (level.value() >= 0.5) return upper_place(upper_target(level, mass(), fresh));
  const KnotPlace lower = lower_place(lower_target(level, mass(), fresh));
  const KnotPlace middle = upper_place(upper_target(Level(0.5), mass(), fresh));
  return lower.knot <= middle.knot ? lower : middle;
}

double GuaranteeRanks::delivered(Level level) const {
  const std::uint64_t count = rows_ + 1;
  const std::uint64_t rank = level.value() >= 0.5 ? level.rank(count) : level.rank_below(count);
  return static_cast<double>(rank) / static_cast<double>(count);
}

GuaranteeRanks GuaranteeRanks::from_counts(Counts counts) {
  const bool right = counts.upper.size() == counts.lower.size() && is_cumulative(counts.upper) &&
                     is_cumulative(counts.lower) && are_outside(counts.above, 0.0, kUnbounded) &&
                     are_outside(counts.below, -kUnbounded, 0.0) && counts.largest >= 1 &&
                     counts.largest <= kMostMass;
  GuaranteeRanks ranks;
  if (right) {
    ranks.rows_ = counts.rows;
    ranks.largest_ = counts.largest;
    ranks.sum_above_ = sum_of(counts.above);
    ranks.sum_below_ = sum_of(counts.below);
    ranks.upper_below_ = std::move(counts.upper);
    ranks.lower_below_ = std::move(counts.lower);
    ranks.above_ = std::move(counts.above);
    ranks.below_ = std::move(counts.below);
  }
  const bool fits = right && ranks.mass() == ranks.lower_below_.back() + ranks.sum_below_ &&
                    ranks.mass() >= ranks.rows_ && ranks.rows_ >= 1 &&
                    ranks.largest_ <= ranks.mass() && ranks.rows_ >= ranks.above_.size() &&
                    ranks.rows_ >= ranks.below_.size();
  if (!fits) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  return ranks;
}

}  // namespace tare
