// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tare {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

Mass mass_at(std::span<const Mass> cumulative, std::size_t knot) {
  return cumulative[knot] - (knot > 0 ? cumulative[knot - 1] : 0);
}

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

}  // namespace

double moved(double quantile, double beyond) {
  return std::isinf(beyond) ? beyond : quantile + beyond;
}

FoldRanks::FoldRanks(std::vector<GuaranteeRanks> folds) : folds_(std::move(folds)) {
  for (const GuaranteeRanks& fold : folds_) {
    rows_ += fold.rows();
    mass_ += fold.mass();
    largest_ = std::max(largest_, fold.largest());
  }
}

bool FoldRanks::finite(Level level, Mass fresh) const {
  if (level.value() >= 0.5) return upper_target(level, mass_, fresh) <= mass_;
  return lower_target(level, mass_, fresh) >= 1;
}

void FoldMerge::mark_knots(const GuaranteeRanks& ranks, std::span<std::uint8_t> flag) {
  const GuaranteeRanks::Counts counts = ranks.counts();
  for (std::size_t k = 0; k < flag.size(); ++k) {
    if (mass_at(counts.upper, k) > 0 || mass_at(counts.lower, k) > 0) flag[k] = 1;
  }
  if (!counts.above.empty()) flag.back() = 1;
  if (!counts.below.empty()) flag.front() = 1;
}

FoldMerge::FoldMerge(const FoldRanks& ranks, std::span<const std::vector<std::size_t>> knots)
    : mass_(ranks.mass()) {
  for (std::size_t f = 0; f < ranks.folds().size(); ++f) {
    const GuaranteeRanks::Counts counts = ranks.folds()[f].counts();
    Fold fold;
    for (const GuaranteeRanks::Outside& row : counts.below) {
      fold.lower.add(0, row.beyond, row.mass);
    }
    for (std::size_t j = 0; j < knots[f].size(); ++j) {
      const Mass up = mass_at(counts.upper, knots[f][j]);
      const Mass down = mass_at(counts.lower, knots[f][j]);
      if (up > 0) fold.upper.add(j, 0.0, up);
      if (down > 0) fold.lower.add(j, 0.0, down);
    }
    for (const GuaranteeRanks::Outside& row : counts.above) {
      fold.upper.add(knots[f].size() - 1, row.beyond, row.mass);
    }
    folds_.push_back(std::move(fold));
  }
}

void FoldMerge::Steps::add(std::size_t to_column, double to_beyond, Mass mass) {
  if (before.empty()) before.push_back(0);
  column.push_back(to_column);
  beyond.push_back(to_beyond);
  before.push_back(before.back() + mass);
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

    double value_of(std::size_t step) const {
      return moved(quantiles[steps->column[step]], steps->beyond[step]);
    }
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
  thread_local MergeMemory memory;
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

void FoldMerge::answer(std::span<const std::span<const double>> quantiles,
                       std::span<const Level> levels, Mass fresh, std::span<double> out) const {
  static const Level kMedian(0.5);
  std::vector<Mass> upper = {upper_target(kMedian, mass_, fresh)};
  std::vector<Mass> lower;
  for (const Level& level : levels) {
    if (level.value() >= 0.5) {
      upper.push_back(upper_target(level, mass_, fresh));
    } else {
      lower.push_back(lower_target(level, mass_, fresh));
    }
  }
  // Levels ascend, and so do targets: those without a finite bound come last above and first below.
  const auto has_bound = [&](Mass target) { return target <= mass_; };
  const auto finite =
      static_cast<std::size_t>(std::ranges::partition_point(upper, has_bound) - upper.begin());
  std::vector<double> above(upper.size(), kNoBound);
  values_at(&Fold::upper, quantiles, std::span(upper).first(finite), above);
  const auto none = static_cast<std::size_t>(
      std::ranges::partition_point(lower, [](Mass target) { return target < 1; }) - lower.begin());
  std::ranges::fill(out.first(none), -kNoBound);
  const auto below = out.subspan(none, lower.size() - none);
  values_at(&Fold::lower, quantiles, std::span(lower).subspan(none), below);
  for (double& value : below) value = std::min(value, above.front());
  std::ranges::copy(std::span(above).subspan(1),
                    out.begin() + static_cast<std::ptrdiff_t>(lower.size()));
}

}  // namespace tare
