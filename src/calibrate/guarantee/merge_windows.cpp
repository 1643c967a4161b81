// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/merge_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tare {
namespace {

const ScoreSteps& side_of(const GuaranteeRanks& ranks, bool upper) {
  return upper ? ranks.upper() : ranks.lower();
}

/// The number of steps at places below `at`, or up to it.
std::size_t steps_below(const ScoreSteps& steps, double at) {
  const auto first = std::ranges::lower_bound(steps.place, at, {}, &CurvePlace::at);
  return static_cast<std::size_t>(first - steps.place.begin());
}
std::size_t steps_up_to(const ScoreSteps& steps, double at) {
  const auto first = std::ranges::upper_bound(steps.place, at, {}, &CurvePlace::at);
  return static_cast<std::size_t>(first - steps.place.begin());
}

Mass mass_before(const ScoreSteps& steps, std::size_t step) {
  return step == 0 ? 0 : steps.up_to[step - 1];
}

/// The first knot up to which the folds have the mass of a target.
std::size_t common_knot(const FoldRanks& ranks, std::size_t knots,
                        const MergeWindows::Target& target) {
  std::size_t low = 0;
  std::size_t high = knots - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    Mass mass = 0;
    for (const GuaranteeRanks& fold : ranks.folds()) {
      const ScoreSteps& steps = side_of(fold, target.upper);
      mass += mass_before(steps, steps_up_to(steps, static_cast<double>(middle)));
    }
    if (mass >= target.mass) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

std::vector<MergeWindows::Reach> MergeWindows::usual_reach(const FoldRanks& ranks,
                                                           std::span<const Level> knots,
                                                           std::span<const Target> targets) {
  constexpr double kReach = 0.3;
  std::vector<Reach> reach;
  for (const Target& target : targets) {
    const double level = knots[common_knot(ranks, knots.size(), target)].value();
    const double by = kReach * std::sqrt(level * (1.0 - level));
    reach.push_back(
        {place_of_level(knots, level - by).at, std::ceil(place_of_level(knots, level + by).at)});
  }
  return reach;
}

MergeWindows::MergeWindows(const FoldRanks& ranks, std::span<const Level> knots,
                           std::span<const Target> targets, std::span<const Reach> reach)
    : asked_(ranks.folds().size()) {
  for (std::size_t t = 0; t < targets.size(); ++t) add(ranks, targets[t], reach[t]);
  // From knots to columns.
  std::vector<std::uint8_t> flag(knots.size());
  std::vector<std::uint32_t> column(knots.size());
  for (std::size_t f = 0; f < asked_.size(); ++f) {
    std::ranges::fill(flag, std::uint8_t{0});
    const auto for_steps = [&](const auto& use) {
      for (Window& window : windows_) {
        const Part& part = window.parts[f];
        for (std::size_t i = part.first; i < part.last; ++i) use(window.steps[i]);
      }
    };
    for_steps([&](const Step& step) { FoldMerge::mark_knots(CurvePlace{step.at}, flag); });
    // A model is asked for something even where a fold has no rows.
    if (std::ranges::count(flag, 1) == 0) flag[knots.size() / 2] = 1;
    for (std::size_t k = 0; k < knots.size(); ++k) {
      if (flag[k] == 0) continue;
      column[k] = static_cast<std::uint32_t>(asked_[f].size());
      asked_[f].push_back(knots[k]);
    }
    for_steps([&](Step& step) { step.column = column[CurvePlace{step.at}.knot()]; });
    columns_ += asked_[f].size();
  }
}

void MergeWindows::add(const FoldRanks& ranks, const Target& target, const Reach& reach) {
  Window window;
  Mass before = 0;
  Mass inside = 0;
  for (std::size_t f = 0; f < ranks.folds().size(); ++f) {
    const ScoreSteps& steps = side_of(ranks.folds()[f], target.upper);
    // With the next step on both sides, which says that all others are farther.
    std::size_t first = steps_below(steps, reach.low);
    if (first > 0) --first;
    const std::size_t last = std::min(steps_up_to(steps, reach.high) + 1, steps.size());
    Part part{.fold = static_cast<std::uint32_t>(f),
              .first = window.steps.size(),
              .has_lower = first > 0,
              .has_higher = last < steps.size()};
    for (std::size_t i = first; i < last; ++i) {
      const CurvePlace& place = steps.place[i];
      window.steps.push_back({.share = place.share(),
                              .beyond = place.beyond,
                              .at = place.at,
                              .mass = steps.mass_of(i)});
    }
    part.last = window.steps.size();
    window.parts.push_back(part);
    before += mass_before(steps, first);
    inside += mass_before(steps, last) - mass_before(steps, first);
  }
  if (before < target.mass && target.mass <= before + inside) window.needed = target.mass - before;
  if (window.needed > 0) {
    const Mass each = window.steps.front().mass;
    const bool alike =
        std::ranges::all_of(window.steps, [&](const Step& step) { return step.mass == each; });
    if (alike) window.each = each;
  }
  windows_.push_back(std::move(window));
}

/// The value of a rank, from 1 on. Each fold's values ascend, so its value at the same share of its
/// own ranks is a guess. The middle guesses mostly enclose the value; where they do not, all are
/// searched.
double MergeWindows::select_rank(const Window& window, std::size_t rank, Scratch& scratch) {
  constexpr std::size_t kOuterGuesses = 2;  // on each side, too far out
  const std::vector<double>& values = scratch.values;
  const double share = (static_cast<double>(rank) - 0.5) / static_cast<double>(values.size());
  scratch.guesses.clear();
  for (const Part& part : window.parts) {
    if (part.first == part.last) continue;
    const auto at = static_cast<std::size_t>(share * static_cast<double>(part.last - part.first));
    scratch.guesses.push_back(values[part.first + at]);
  }
  scratch.sorted.resize(values.size());
  if (scratch.guesses.size() > 2 * kOuterGuesses) {
    std::ranges::sort(scratch.guesses);
    const double low = scratch.guesses[kOuterGuesses];
    const double high = scratch.guesses[scratch.guesses.size() - 1 - kOuterGuesses];
    std::size_t below = 0;
    std::size_t kept = 0;
    for (const double value : values) {
      scratch.sorted[kept] = value;
      kept += static_cast<std::size_t>(value >= low) & static_cast<std::size_t>(value <= high);
      below += static_cast<std::size_t>(value < low);
    }
    if (below < rank && rank <= below + kept) {
      const auto first = scratch.sorted.begin();
      const auto place = first + static_cast<std::ptrdiff_t>(rank - below - 1);
      std::nth_element(first, place, first + static_cast<std::ptrdiff_t>(kept));
      return *place;
    }
  }
  std::ranges::copy(values, scratch.sorted.begin());
  const auto place = scratch.sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(scratch.sorted.begin(), place, scratch.sorted.end());
  return *place;
}

/// The smallest value at which the mass of the values up to it is what is needed.
double MergeWindows::select(const Window& window, Scratch& scratch) {
  if (window.each > 0) {
    const auto rank = static_cast<std::size_t>((window.needed + window.each - 1) / window.each);
    return select_rank(window, rank, scratch);
  }
  scratch.order.resize(window.steps.size());
  std::iota(scratch.order.begin(), scratch.order.end(), std::size_t{0});
  auto low = scratch.order.begin();
  auto high = scratch.order.end();
  Mass needed = window.needed;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, [&](std::size_t a, std::size_t b) {
      return scratch.values[a] < scratch.values[b];
    });
    Mass left = 0;
    for (auto it = low; it != middle; ++it) left += window.steps[*it].mass;
    if (left >= needed) {
      high = middle;
    } else {
      needed -= left;
      low = middle;
    }
  }
  return scratch.values[*low];
}

bool MergeWindows::answer(std::span<const std::span<const double>> quantiles, Scratch& scratch,
                          std::span<double> out, std::span<Reach> seen) const {
  for (std::size_t t = 0; t < windows_.size(); ++t) {
    const Window& window = windows_[t];
    if (window.needed == 0) return false;
    scratch.values.resize(window.steps.size());
    double* values = scratch.values.data();
    for (const Part& part : window.parts) {
      const double* of_fold = quantiles[part.fold].data();
      for (std::size_t i = part.first; i < part.last; ++i) {
        const Step& step = window.steps[i];
        const double* own = of_fold + step.column;
        const double at = step.share == 0.0 ? own[0] : between(own[0], own[1], step.share);
        values[i] = step.beyond == 0.0 ? at : moved(at, step.beyond);
      }
    }
    const double found = select(window, scratch);
    for (const Part& part : window.parts) {
      if (part.first == part.last) continue;
      if (part.has_lower && !(found >= values[part.first])) return false;
      if (part.has_higher && !(found <= values[part.last - 1])) return false;
    }
    out[t] = found;
    if (seen.empty()) continue;
    Reach& among = seen[t];
    among = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const Part& part : window.parts) {
      if (part.first == part.last) continue;
      std::size_t below = part.first;  // the first step that is not below the answer
      while (below + 1 < part.last && values[below] < found) ++below;
      among.high = std::max(among.high, window.steps[below].at);
      among.low = std::min(among.low, window.steps[below > part.first ? below - 1 : below].at);
    }
  }
  return true;
}

}  // namespace tare
