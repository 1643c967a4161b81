// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "calibrate/answers/set_columns.h"
#include "calibrate/guarantee/guarantee.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"

namespace tare {
namespace {

// How ShortestFamily makes sets. Ranks of sets that were made otherwise say nothing about these: a
// change of its constants is a new number.
constexpr std::size_t kSetRule = 1;
constexpr Mass kMostSetMass = Mass{1} << 56;

[[noreturn]] void fail_sets() {
  fail(ErrorCode::kCorruptFile, "the model file's ranks of shortest sets are damaged");
}

}  // namespace

SetColumnsOfKnots::SetColumnsOfKnots(std::span<const Level> knots) {
  for (const Level& level : set_levels()) {
    const auto found = std::ranges::lower_bound(knots, level.value(), {}, &Level::value);
    if (found == knots.end() || !(*found == level)) {
      fail(ErrorCode::kInvalidArgument, "the level {} of shortest sets is no knot", level.value());
    }
    column_.push_back(static_cast<std::size_t>(found - knots.begin()));
  }
}

ShortestFamily SetColumnsOfKnots::family(std::span<const double> quantiles) const {
  std::vector<double> own;
  own.reserve(column_.size());
  for (const std::size_t column : column_) own.push_back(quantiles[column]);
  return ShortestFamily(own);
}

SetRanks::SetRanks(std::span<const SetPlace> places, std::span<const Mass> masses,
                   std::span<const std::size_t> line_of_row, std::size_t lines) {
  std::vector<std::vector<std::pair<SetPlace, Mass>>> rows(lines);
  for (std::size_t i = 0; i < places.size(); ++i) {
    rows[0].emplace_back(places[i], masses[i]);
    if (line_of_row[i] > 0) rows[line_of_row[i]].emplace_back(places[i], masses[i]);
  }
  for (auto& own : rows) add(std::move(own));
}

void SetRanks::add(std::vector<std::pair<SetPlace, Mass>> rows) {
  std::ranges::sort(rows);
  Line line;
  Mass sum = 0;
  for (const auto& [place, mass] : rows) {
    line.place.push_back(place);
    line.up_to.push_back(sum += mass);
  }
  lines_.push_back(std::move(line));
}

bool SetRanks::keeps(std::size_t line, Level coverage, Mass fresh) const {
  const Mass all = lines_[line].up_to.back();
  return upper_target(coverage, all, fresh) <= all;
}

SetPlace SetRanks::place(std::size_t line, Level coverage, Mass fresh) const {
  const Line& own = lines_[line];
  const Mass all = own.up_to.back();
  const Mass target = std::min(upper_target(coverage, all, fresh), all);
  return own.place[static_cast<std::size_t>(std::ranges::lower_bound(own.up_to, target) -
                                            own.up_to.begin())];
}

double SetRanks::delivered(std::size_t line, Level coverage) const {
  const std::uint64_t rows = lines_[line].place.size();
  return static_cast<double>(std::min(coverage.rank(rows + 1), rows)) /
         static_cast<double>(rows + 1);
}

void SetRanks::save(const TensorWriter& out) const {
  if (empty()) return;
  std::vector<std::int32_t> entry, count;
  std::vector<double> beyond;
  std::vector<std::int64_t> mass;
  for (const Line& line : lines_) {
    count.push_back(static_cast<std::int32_t>(line.place.size()));
    Mass before = 0;
    for (std::size_t i = 0; i < line.place.size(); ++i) {
      entry.push_back(static_cast<std::int32_t>(line.place[i].entry));
      beyond.push_back(line.place[i].beyond);
      mass.push_back(static_cast<std::int64_t>(line.up_to[i] - before));
      before = line.up_to[i];
    }
  }
  out.value("set_rule", kSetRule);
  out.tensor("set_count", count);
  out.tensor("set_entry", entry);
  out.tensor("set_beyond", beyond);
  out.tensor("set_mass", mass);
}

SetRanks SetRanks::load(const TensorReader& in, std::size_t lines) {
  SetRanks ranks;
  if (!in.has_value("set_rule")) return ranks;
  if (in.count("set_rule", 1'000'000) != kSetRule) return ranks;
  const auto count = in.values<std::int32_t>("set_count", {lines});
  const auto entry = in.list<std::int32_t>("set_entry");
  const auto beyond = in.values<double>("set_beyond", {entry.size()});
  const auto mass = in.values<std::int64_t>("set_mass", {entry.size()});
  std::size_t next = 0;
  for (const std::int32_t rows : count) {
    if (rows < 1 || static_cast<std::size_t>(rows) > entry.size() - next) fail_sets();
    Line line;
    Mass sum = 0;
    for (std::int32_t i = 0; i < rows; ++i, ++next) {
      const bool is_right = entry[next] >= 0 && mass[next] >= 1 &&
                            static_cast<Mass>(mass[next]) <= kMostSetMass - sum &&
                            std::isfinite(beyond[next]) && beyond[next] >= 0.0;
      if (!is_right) fail_sets();
      const SetPlace place{static_cast<std::uint32_t>(entry[next]), beyond[next]};
      if (place.entry > whole_place().entry || (!line.place.empty() && place < line.place.back())) {
        fail_sets();
      }
      line.place.push_back(place);
      line.up_to.push_back(sum += static_cast<Mass>(mass[next]));
    }
    ranks.lines_.push_back(std::move(line));
  }
  if (next != entry.size()) fail_sets();
  return ranks;
}

/// The sets of a split.
bool GuaranteedModel::ranked_sets(const Rows& rows, std::span<const Level> coverages,
                                  const Execution& how, ShortestSets& sets) const {
  if (set_ranks_.empty()) return false;
  check_groups(rows);
  std::vector<double> weight(shift_ ? rows.x.rows() : 0);
  if (shift_) shift_->weights(rows.x, weight, how);
  const auto fresh_of = [&](std::size_t i) {
    const Mass most = most_fresh(ranks_[ranks_of_row(rows, i)]);
    return shift_ ? std::min(scale_.of(weight[i]), most) : most;
  };
  const auto keeps = [&](std::size_t i, const Level& coverage) {
    return set_ranks_.keeps(ranks_of_row(rows, i), coverage, fresh_of(i));
  };
  const auto place = [&](std::size_t i, std::size_t k) {
    const SetPlace ranked = set_ranks_.place(ranks_of_row(rows, i), coverages[k], fresh_of(i));
    if (keeps(i, coverages[k])) return ranked;
    if (outer_ == OuterLevels::kOwnTail) return std::max(ranked, nominal_place(coverages[k]));
    return SetPlace{whole_place().entry, std::numeric_limits<double>::infinity()};
  };
  const auto quantiles = [&](const Rows& some) {
    return inner_.front()->predict({some.x, some.given}, set_levels(), how).quantiles;
  };
  sets.ends = fill_sets(rows, coverages.size(), quantiles, how, place);
  if (knows_levels()) sets.delivered = Matrix(rows.x.rows(), coverages.size());
  for (std::size_t i = 0; i < rows.x.rows(); ++i) {
    const std::size_t line = ranks_of_row(rows, i);
    const bool other_group = !rows.group.empty() && line == 0;
    bool all_kept = true;
    for (std::size_t k = 0; k < coverages.size(); ++k) {
      const bool kept = keeps(i, coverages[k]);
      all_kept = all_kept && kept;
      if (sets.delivered.cols() == 0) continue;
      const bool infinite = !kept && outer_ == OuterLevels::kInfinite;
      sets.delivered(i, k) = infinite      ? 1.0
                             : other_group ? 0.0
                                           : set_ranks_.delivered(line, coverages[k]);
    }
    if (!all_kept) ++sets.rows_beyond;
  }
  return true;
}

}  // namespace tare
