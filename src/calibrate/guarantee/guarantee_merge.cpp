// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/guarantee_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tare {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// A value and the mass that lies there.
struct ValueMass {
  double value;
  Mass mass;
};

/// What merging needs, used from row to row. List f is steps[lists[f]], ..., steps[lists[f + 1] -
/// 1].
struct MergeMemory {
  std::vector<std::size_t> lists;
  std::vector<ValueMass> steps, merged;
};

/// Merges each list with its neighbour. Which comes next cannot be foreseen, so nothing branches on
/// it but the end of a list.
void merge_pairs(MergeMemory& memory) {
  std::vector<std::size_t> wider;
  const ValueMass* from = memory.steps.data();
  ValueMass* out = memory.merged.data();
  for (std::size_t f = 0; f + 1 < memory.lists.size(); f += 2) {
    wider.push_back(memory.lists[f]);
    const ValueMass* one = from + memory.lists[f];
    const ValueMass* one_end = from + memory.lists[f + 1];
    const ValueMass* other = one_end;
    const ValueMass* other_end = f + 2 < memory.lists.size() ? from + memory.lists[f + 2] : one_end;
    while (one != one_end && other != other_end) {
      const bool second = other->value < one->value;
      *out++ = second ? *other : *one;
      other += second ? 1 : 0;
      one += second ? 0 : 1;
    }
    out = std::copy(one, one_end, out);
    out = std::copy(other, other_end, out);
  }
  wider.push_back(memory.lists.back());
  memory.lists = std::move(wider);
  std::swap(memory.steps, memory.merged);
}

/// Whether the lower score of every rank is at most the upper one.
bool lower_is_lower(const GuaranteeRanks& ranks) {
  const ScoreSteps& lower = ranks.lower();
  const ScoreSteps& upper = ranks.upper();
  if (lower.mass() != upper.mass()) return false;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < lower.size() && j < upper.size()) {
    if (lower.place[i] > upper.place[j]) return false;
    const Mass reached = std::min(lower.up_to[i], upper.up_to[j]);
    const bool next_upper = upper.up_to[j] == reached;
    if (lower.up_to[i] == reached) ++i;
    if (next_upper) ++j;
  }
  return true;
}

}  // namespace

FoldRanks::FoldRanks(std::vector<GuaranteeRanks> folds) : folds_(std::move(folds)) {
  for (const GuaranteeRanks& fold : folds_) {
    rows_ += fold.rows();
    mass_ += fold.mass();
    largest_ = std::max(largest_, fold.largest());
  }
}

void FoldMerge::mark_knots(const CurvePlace& place, std::span<std::uint8_t> flag) {
  flag[place.knot()] = 1;
  if (place.share() > 0.0) flag[place.knot() + 1] = 1;
}

void FoldMerge::mark_knots(const GuaranteeRanks& ranks, std::span<std::uint8_t> flag) {
  for (const CurvePlace& place : ranks.upper().place) mark_knots(place, flag);
  for (const CurvePlace& place : ranks.lower().place) mark_knots(place, flag);
}

FoldMerge::Steps FoldMerge::steps_of(const ScoreSteps& scores,
                                     std::span<const std::uint32_t> column) {
  Steps steps;
  steps.before.push_back(0);
  for (const CurvePlace& place : scores.place) {
    steps.column.push_back(column[place.knot()]);
    steps.share.push_back(place.share());
    steps.beyond.push_back(place.beyond);
  }
  steps.before.insert(steps.before.end(), scores.up_to.begin(), scores.up_to.end());
  return steps;
}

FoldMerge::FoldMerge(const FoldRanks& ranks, std::span<const std::vector<std::size_t>> asked,
                     std::span<const Level> knots)
    : mass_(ranks.mass()), knots_(knots) {
  for (std::size_t f = 0; f < ranks.folds().size(); ++f) {
    Fold fold;
    fold.column.resize(asked[f].back() + 1);
    for (std::size_t j = 0; j < asked[f].size(); ++j) {
      fold.column[asked[f][j]] = static_cast<std::uint32_t>(j);
    }
    fold.upper = steps_of(ranks.folds()[f].upper(), fold.column);
    fold.lower = steps_of(ranks.folds()[f].lower(), fold.column);
    folds_.push_back(std::move(fold));
    caps_at_median_ = caps_at_median_ || !lower_is_lower(ranks.folds()[f]);
  }
}

inline double FoldMerge::Steps::value(const double* quantiles, std::size_t step) const {
  const double* own = quantiles + column[step];
  const double at = share[step] == 0.0 ? own[0] : between(own[0], own[1], share[step]);
  return beyond[step] == 0.0 ? at : moved(at, beyond[step]);
}

/// Where a walk up along the values of all folds stands.
class FoldMerge::Walk {
 public:
  Walk(std::span<const Fold> folds, Steps Fold::*side,
       std::span<const std::span<const double>> quantiles) {
    for (std::size_t f = 0; f < folds.size(); ++f) {
      const Steps& own = folds[f].*side;
      if (own.size() > 0) heads_.push_back({&own, quantiles[f].data(), 0});
    }
  }

  Mass reached() const noexcept { return reached_; }
  double value() const noexcept { return value_; }

  /// Moves behind all steps up to the value at which the mass reaches `target`, which is not more
  /// than all mass: a value is guessed, and its rank says which half of the steps to go on with.
  void seek(Mass target) {
    if (reached_ >= target) return;
    for (Head& head : heads_) {
      head.low = head.at;
      head.high = head.steps->size();
    }
    for (;;) {
      Head& split = widest();
      if (split.low == split.high) return;  // only where quantiles are no numbers
      const std::size_t middle = split.low + (split.high - split.low) / 2;
      const double pivot = split.value_of(middle);
      Mass below = reached_;
      Mass up_to = reached_;
      for (Head& head : heads_) {
        head.pivot = head.first(head.low, head.high, [&](double v) { return !(v < pivot); });
        head.behind = head.first(head.pivot, head.high, [&](double v) { return v > pivot; });
        below += head.mass_to(head.pivot);
        up_to += head.mass_to(head.behind);
      }
      if (below < target && target <= up_to) {
        for (Head& head : heads_) head.at = head.behind;
        reached_ = up_to;
        value_ = pivot;
        return;
      }
      // The one that was split gets shorter whatever its values are.
      if (below < target) {
        for (Head& head : heads_) head.low = head.behind;
        split.low = std::max(split.low, middle + 1);
      } else {
        for (Head& head : heads_) head.high = head.pivot;
        split.high = std::min(split.high, middle);
      }
    }
  }

  /// The steps from here to where `end` stands, in order of value.
  std::span<const ValueMass> steps_to(const Walk& end, MergeMemory& memory) const {
    memory.lists.clear();
    std::size_t count = 0;
    for (std::size_t f = 0; f < heads_.size(); ++f) {
      memory.lists.push_back(count);
      count += end.heads_[f].at - heads_[f].at;
    }
    memory.lists.push_back(count);
    memory.steps.resize(count);
    memory.merged.resize(count);
    for (std::size_t f = 0; f < heads_.size(); ++f) {
      const Head& head = heads_[f];
      ValueMass* out = memory.steps.data() + memory.lists[f];
      for (std::size_t step = head.at; step < end.heads_[f].at; ++step) {
        *out++ = {head.value_of(step), head.steps->before[step + 1] - head.steps->before[step]};
      }
    }
    while (memory.lists.size() > 2) merge_pairs(memory);
    return memory.steps;
  }

 private:
  struct Head {
    const Steps* steps;
    const double* quantiles;
    std::size_t at;                     // the next step
    std::size_t low = 0, high = 0;      // steps among which is the one sought
    std::size_t pivot = 0, behind = 0;  // the first not below a guess, and the first above it

    double value_of(std::size_t step) const { return steps->value(quantiles, step); }
    Mass mass_to(std::size_t step) const { return steps->before[step] - steps->before[at]; }
    /// The first of from, ..., to - 1 whose value `holds`, or to.
    template <class Holds>
    std::size_t first(std::size_t from, std::size_t to, const Holds& holds) const {
      while (from < to) {
        const std::size_t middle = from + (to - from) / 2;
        if (holds(value_of(middle))) {
          to = middle;
        } else {
          from = middle + 1;
        }
      }
      return from;
    }
  };

  Head& widest() {
    return *std::ranges::max_element(heads_, {}, [](const Head& h) { return h.high - h.low; });
  }

  std::vector<Head> heads_;
  Mass reached_ = 0;
  double value_ = -kNoBound;
};

void FoldMerge::values_at(Steps Fold::*side, std::span<const std::span<const double>> quantiles,
                          std::span<const Mass> targets, std::span<double> out) const {
  constexpr std::size_t kFewTargets = 8;  // found one by one
  if (targets.empty()) return;
  thread_local MergeMemory memory;
  if (folds_.size() == 1) {
    const Steps& own = folds_.front().*side;
    for (std::size_t j = 0; j < targets.size(); ++j) {
      const auto reached = std::ranges::lower_bound(own.before, targets[j]);
      const auto step = static_cast<std::size_t>(reached - own.before.begin()) - 1;
      out[j] = own.value(quantiles.front().data(), step);
    }
    return;
  }
  Walk walk(folds_, side, quantiles);
  if (targets.size() <= kFewTargets) {
    for (std::size_t j = 0; j < targets.size(); ++j) {
      walk.seek(targets[j]);
      out[j] = walk.value();
    }
    return;
  }
  walk.seek(targets.front());
  Walk end = walk;
  end.seek(targets.back());
  const std::span<const ValueMass> steps = walk.steps_to(end, memory);
  Mass reached = walk.reached();
  double value = walk.value();
  std::size_t next = 0;
  for (std::size_t j = 0; j < targets.size(); ++j) {
    for (; reached < targets[j] && next < steps.size(); ++next) {
      reached += steps[next].mass;
      value = steps[next].value;
    }
    out[j] = value;
  }
}

double FoldMerge::beyond_ranks(double outermost, std::span<const std::span<const double>> quantiles,
                               Level level, Mass fresh) const {
  const bool upwards = level.value() >= 0.5;
  if (knots_.empty()) return upwards ? kNoBound : -kNoBound;
  const OwnTail tail = own_tail(knots_, level, mass_, fresh);
  double sum = 0.0;
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    const auto value = [&](const CurvePlace& place) {
      const double* own = quantiles[f].data() + folds_[f].column[place.knot()];
      return place.share() == 0.0 ? own[0] : between(own[0], own[1], place.share());
    };
    sum += tail_length(value(tail.from), value(tail.to), upwards);
  }
  return outermost + sum / static_cast<double>(folds_.size());
}

void FoldMerge::answer(std::span<const std::span<const double>> quantiles,
                       std::span<const Level> levels, Mass fresh, std::span<double> out) const {
  static const Level kMedian(0.5);
  // Levels ascend, and so do targets. Those that no bound has come first below and last above, and
  // start from the outermost value.
  std::vector<Mass> upper;
  if (caps_at_median_) upper.push_back(std::min(upper_target(kMedian, mass_, fresh), mass_));
  std::vector<Mass> lower;
  std::size_t kept_from = 0;
  std::size_t kept_to = levels.size();
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (levels[j].value() >= 0.5) {
      const Mass target = upper_target(levels[j], mass_, fresh);
      if (target > mass_) kept_to = std::min(kept_to, j);
      upper.push_back(std::min(target, mass_));
    } else {
      const Mass target = lower_target(levels[j], mass_, fresh);
      if (target < 1) kept_from = j + 1;
      lower.push_back(std::max(target, Mass{1}));
    }
  }
  std::vector<double> above(upper.size());
  values_at(&Fold::upper, quantiles, upper, above);
  const auto below = out.first(lower.size());
  values_at(&Fold::lower, quantiles, lower, below);
  if (caps_at_median_) {
    for (double& value : below) value = std::min(value, above.front());
  }
  std::ranges::copy(std::span(above).subspan(caps_at_median_ ? 1 : 0),
                    out.begin() + static_cast<std::ptrdiff_t>(lower.size()));
  for (std::size_t j = 0; j < levels.size(); ++j) {
    if (j >= kept_from && j < kept_to) continue;
    out[j] = beyond_ranks(out[j], quantiles, levels[j], fresh);
  }
}

}  // namespace tare
