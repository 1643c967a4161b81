// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/window/rank_rule.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>

#include "base/strings.h"
#include "base/unknown_name.h"

namespace tare {
namespace {

__extension__ using Wide = unsigned __int128;

/// p = tau * count as a whole number and a share of the way to the next.
struct Position {
  std::uint64_t whole = 0;
  double share = 0.0;  // 0 exactly where p is whole
};

Position position_of(const Level& level, std::uint64_t count) {
  const double p = level.value() * static_cast<double>(count);
  const double nearest = std::nearbyint(p);
  if (std::abs(p - nearest) > 1e-12 * (p + 1.0)) {
    const double below = std::floor(p);
    return {static_cast<std::uint64_t>(below), p - below};
  }
  // So near to a whole number only exact arithmetic tells the side.
  const std::uint64_t below = level.rank_below(count);
  if (level.rank(count) == below) return {below, 0.0};
  return {below, std::clamp(p - static_cast<double>(below), 0.0, 1.0)};
}

}  // namespace

std::string_view ranks_name(Ranks ranks) { return ranks == Ranks::kPaper ? "paper" : "expected"; }

Ranks parse_ranks(std::string_view name) {
  std::vector<std::string> names;
  for (const Ranks ranks : {Ranks::kExpected, Ranks::kPaper}) {
    if (ranks_name(ranks) == canonical_name(name)) return ranks;
    names.emplace_back(ranks_name(ranks));
  }
  fail_unknown_name(ErrorCode::kInvalidArgument, "rule for ranks", name, names, "ranks");
}

void RankRule::start(Ranks kind, std::span<const Level> levels) {
  kind_ = kind;
  levels_ = levels;
  count_ = 0;
  own_at_.clear();
}

std::size_t RankRule::most_ranks() const noexcept {
  if (kind_ == Ranks::kPaper || levels_.empty()) return levels_.size();
  return 2 * levels_.size() + 4;  // two a tail
}

/// Adds a rank that is no smaller than the last but one, and says where it stands.
std::uint32_t RankRule::need(std::uint32_t rank) {
  if (!ranks_.empty() && ranks_.back() > rank) return static_cast<std::uint32_t>(ranks_.size() - 2);
  if (ranks_.empty() || ranks_.back() < rank) ranks_.push_back(rank);
  return static_cast<std::uint32_t>(ranks_.size() - 1);
}

void RankRule::plan(std::size_t count) {
  const auto last = static_cast<std::uint32_t>(count);
  const auto inwards = static_cast<std::uint32_t>(std::min(kTailRanks, count - 1));
  const std::uint64_t parts = count + 1;
  const std::size_t levels = levels_.size();
  // Levels before `low` are in the lower tail, from `high` on in the upper one.
  std::size_t low = 0;
  while (low < levels && position_of(levels_[low], parts).whole == 0) ++low;
  std::size_t high = levels;
  for (; high > low; --high) {
    const Position p = position_of(levels_[high - 1], parts);
    if (p.whole < count || (p.whole == count && p.share == 0.0)) break;
  }

  // Ranks that tails go through, to be merged with those between.
  std::array<std::uint32_t, 4> anchors{};
  std::size_t anchor_count = 0;
  if (low > 0) {
    anchors[anchor_count++] = 1;
    anchors[anchor_count++] = 1 + inwards;
  }
  if (high < levels) {
    anchors[anchor_count++] = last - inwards;
    anchors[anchor_count++] = last;
  }
  std::sort(anchors.begin(), anchors.begin() + static_cast<std::ptrdiff_t>(anchor_count));
  std::size_t next = 0;
  const auto merge_anchors = [&](std::uint32_t below) {
    for (; next < anchor_count && anchors[next] < below; ++next) need(anchors[next]);
  };
  ranks_.clear();
  mixes_.resize(levels);
  for (std::size_t j = low; j < high; ++j) {
    const Position p = position_of(levels_[j], parts);
    const auto rank = static_cast<std::uint32_t>(p.whole);
    merge_anchors(rank);
    const std::uint32_t a = need(rank);
    mixes_[j] = {a, p.share > 0.0 ? need(rank + 1) : a, p.share};
  }
  merge_anchors(last + 1);

  const auto where = [&](std::uint32_t rank) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin());
  };
  const double width = std::log(static_cast<double>(inwards) + 1.0);
  const auto tail_share = [&](double outside) {
    const double p = outside * static_cast<double>(parts);
    return inwards == 0 ? 0.0 : std::min(0.0, std::log(p) / width);
  };
  for (std::size_t j = 0; j < low; ++j) {
    mixes_[j] = {where(1), where(1 + inwards), tail_share(levels_[j].value())};
  }
  for (std::size_t j = high; j < levels; ++j) {
    mixes_[j] = {where(last), where(last - inwards), tail_share(1.0 - levels_[j].value())};
  }
}

std::span<const std::uint32_t> RankRule::ranks(std::size_t count) {
  assert(count > 0);
  own_at_.clear();
  if (count == count_) return ranks_;
  count_ = count;
  if (kind_ == Ranks::kExpected) {
    plan(count);
    return ranks_;
  }
  ranks_.resize(levels_.size());
  for (std::size_t j = 0; j < levels_.size(); ++j) {
    ranks_[j] = static_cast<std::uint32_t>(levels_[j].rank(count));
  }
  return ranks_;
}

std::span<const double> RankRule::targets(double total, double effective_size, WeightType type) {
  const bool whole = type == WeightType::kWhole;
  if (kind_ == Ranks::kPaper) {
    targets_.resize(levels_.size());
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      targets_[j] = level_target(levels_[j], total, type);
    }
    return targets_;
  }
  constexpr double kMostRows = std::numeric_limits<std::uint32_t>::max() - 1;
  const double size = effective_size >= 1.0 ? std::min(std::round(effective_size), kMostRows) : 1.0;
  const auto needed = ranks(static_cast<std::size_t>(size));
  targets_.resize(needed.size());
  const double step = total * (1.0 - kTieSlack) / size;
  const auto sum = static_cast<std::uint64_t>(whole ? total : 0.0);
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (!whole) {
      targets_[k] = (static_cast<double>(needed[k]) - 0.5) * step;
    } else if (total == size) {
      targets_[k] = static_cast<double>(needed[k]);
    } else {  // (i - 1/2) / n of the sum, rounded up
      const Wide twice = 2 * static_cast<Wide>(count_);
      const Wide reached = static_cast<Wide>(2 * std::uint64_t{needed[k]} - 1) * sum;
      targets_[k] = static_cast<double>(static_cast<std::uint64_t>((reached + twice - 1) / twice));
    }
  }
  if (!whole && count_ <= kFewRows) add_paper_targets(total);
  return targets_;
}

void RankRule::add_paper_targets(double total) {
  own_targets_ = targets_;
  paper_targets_.clear();
  for (const Level& level : levels_) {
    paper_targets_.push_back(level_target(level, total, WeightType::kReal));
  }
  targets_.resize(own_targets_.size() + paper_targets_.size());
  std::ranges::merge(paper_targets_, own_targets_, targets_.begin());
  const auto places = [&](std::span<const double> some, std::vector<std::uint32_t>& at) {
    at.clear();  // of equal targets any will do: they have the same value
    for (const double target : some) {
      at.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(targets_, target) -
                                              targets_.begin()));
    }
  };
  places(own_targets_, own_at_);
  places(paper_targets_, paper_at_);
}

void RankRule::answer(std::span<const double> values, std::span<double> out) const {
  if (kind_ == Ranks::kPaper) {
    std::ranges::copy(values, out.begin());
    return;
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  for (std::size_t j = 0; j < mixes_.size(); ++j) {
    const Mix& mix = mixes_[j];
    const bool few = !own_at_.empty();
    const double a = values[few ? own_at_[mix.a] : mix.a];
    const double b = values[few ? own_at_[mix.b] : mix.b];
    out[j] = std::clamp(std::lerp(a, b, mix.share), -kMost, kMost);
    if (!few) continue;
    const double paper = values[paper_at_[j]];
    if (levels_[j].value() < 0.5) out[j] = std::min(out[j], paper);
    if (levels_[j].value() > 0.5) out[j] = std::max(out[j], paper);
  }
}

}  // namespace tare
