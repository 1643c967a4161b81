// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/guarantee/ranks/guarantee_ranks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"

namespace tare {
namespace {

constexpr Mass kMostMass = Mass{1} << 56;  // of a fold in a file: sums cannot overflow

ScoreSteps sorted_steps(std::span<const RowScore> scores, CurvePlace RowScore::*side) {
  struct Item {
    CurvePlace place;
    Mass mass;
  };
  std::vector<Item> items;
  for (const RowScore& score : scores) items.push_back({score.*side, score.mass});
  // By mass where they tie, so that a file does not depend on the order of the rows.
  std::ranges::sort(items, [](const Item& a, const Item& b) {
    return a.place != b.place ? a.place < b.place : a.mass < b.mass;
  });
  ScoreSteps steps;
  for (const Item& item : items) steps.add(item.place, item.mass);
  return steps;
}

/// Steps put together, from the outside inwards.
class OuterSteps {
 public:
  explicit OuterSteps(Mass all) : most_(all / kOfAll) {}

  void take(const CurvePlace& at, Mass one) {
    if (!mass.empty() && mass.back() + one <= std::min(further_out_ / kOfFurtherOut, most_)) {
      mass.back() += one;
      return;
    }
    if (!mass.empty()) further_out_ += mass.back();
    place.push_back(at);
    mass.push_back(one);
  }

  std::vector<CurvePlace> place;
  std::vector<Mass> mass;

 private:
  static constexpr Mass kOfFurtherOut = 48;
  static constexpr Mass kOfAll = 384;
  Mass most_;             // of one step that others join
  Mass further_out_ = 0;  // than the last step
};

/// Ascending, on the curve of that many knots, beyond it only at its ends, and with masses that
/// cannot overflow.
bool are_right(const ScoreSteps& steps, std::size_t knots) {
  const auto last = static_cast<double>(knots - 1);
  Mass before = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CurvePlace& place = steps.place[i];
    const bool on_curve = place.at >= 0.0 && place.at <= last;
    const bool beyond_ends =
        place.beyond == 0.0 || (place.beyond > 0.0 ? place.at == last : place.at == 0.0);
    const bool ascends = i == 0 || steps.place[i - 1] <= place;
    if (!on_curve || std::isnan(place.beyond) || !beyond_ends || !ascends) return false;
    if (steps.up_to[i] <= before || steps.up_to[i] > kMostMass) return false;
    before = steps.up_to[i];
  }
  return steps.size() > 0;
}

}  // namespace

Mass upper_target(Level level, Mass all, Mass fresh) { return level.rank(all + fresh); }

/// The mirror image: of all mass, at least the share 1 - tau must lie at or above the bound, and
/// the new row's own lies below it.
Mass lower_target(Level level, Mass all, Mass fresh) {
  const Mass allowed = level.rank_below(all + fresh);
  return allowed < fresh ? 0 : allowed - fresh + 1;
}

bool can_keep(Level level, Mass all, Mass fresh) {
  if (level.value() >= 0.5) return upper_target(level, all, fresh) <= all;
  return lower_target(level, all, fresh) >= 1;
}

OwnTail own_tail(std::span<const Level> knots, Level level, Mass all, Mass fresh) {
  const Mass kept = level.value() >= 0.5 ? all : fresh;
  const double last = static_cast<double>(kept) / static_cast<double>(all + fresh);
  return {place_of_level(knots, last), place_of_level(knots, level.value())};
}

double tail_length(double from, double to, bool upwards) {
  const double length = to - from;
  return (upwards ? length > 0.0 : length < 0.0) ? length : 0.0;  // 0 where it is not a number
}

const CurvePlace& ScoreSteps::reaching(Mass target) const {
  return place[static_cast<std::size_t>(std::ranges::lower_bound(up_to, target) - up_to.begin())];
}

GuaranteeRanks::GuaranteeRanks(std::span<const RowScore> scores)
    : rows_(scores.size()),
      upper_(sorted_steps(scores, &RowScore::upper)),
      lower_(sorted_steps(scores, &RowScore::lower)) {
  for (const RowScore& score : scores) largest_ = std::max(largest_, score.mass);
  summarize();
}

void GuaranteeRanks::summarize() {
  double squares = 0.0;
  for (std::size_t i = 0; i < upper_.size(); ++i) {
    const auto own = static_cast<double>(upper_.mass_of(i));
    squares += own * own;
  }
  typical_ = squares / static_cast<double>(std::max<Mass>(mass(), 1));
  has_masses_ = std::ranges::any_of(upper_.place, [](const CurvePlace& place) {
    return place.share() == 0.0 && place.beyond == 0.0;
  });
}

CurvePlace GuaranteeRanks::place(Level level, Mass fresh) const {
  static const Level kMedian(0.5);
  const auto upper_place = [&](Level at) {
    return upper_.reaching(std::min(upper_target(at, mass(), fresh), mass()));
  };
  if (level.value() >= 0.5) return upper_place(level);
  const Mass target = std::max(lower_target(level, mass(), fresh), Mass{1});
  return std::min(lower_.reaching(target), upper_place(kMedian));
}

double GuaranteeRanks::delivered(Level level) const {
  const std::uint64_t count = rows_ + 1;
  const std::uint64_t rank = level.value() >= 0.5
                                 ? std::min<std::uint64_t>(level.rank(count), rows_)
                                 : std::max<std::uint64_t>(level.rank_below(count), 1);
  return static_cast<double>(rank) / static_cast<double>(count);
}

GuaranteeRanks GuaranteeRanks::thinned() const {
  GuaranteeRanks result;
  result.rows_ = rows_;
  result.largest_ = largest_;
  result.typical_ = typical_;
  result.has_masses_ = has_masses_;
  OuterSteps above(mass());
  OuterSteps below(mass());
  for (std::size_t i = upper_.size(); i-- > 0;) above.take(upper_.place[i], upper_.mass_of(i));
  for (std::size_t i = 0; i < lower_.size(); ++i) below.take(lower_.place[i], lower_.mass_of(i));
  for (std::size_t k = above.place.size(); k-- > 0;) {
    result.upper_.add(above.place[k], above.mass[k]);
  }
  for (std::size_t k = 0; k < below.place.size(); ++k) {
    result.lower_.add(below.place[k], below.mass[k]);
  }
  return result;
}

GuaranteeRanks GuaranteeRanks::from_parts(Parts parts, std::size_t knots) {
  const bool right = are_right(parts.upper, knots) && are_right(parts.lower, knots) &&
                     parts.upper.mass() == parts.lower.mass() && parts.rows >= 1 &&
                     parts.rows <= parts.upper.mass() && parts.largest >= 1 &&
                     parts.largest <= parts.upper.mass();
  if (!right) fail(ErrorCode::kCorruptFile, "the model file's guarantee is damaged");
  GuaranteeRanks ranks;
  ranks.rows_ = parts.rows;
  ranks.largest_ = parts.largest;
  ranks.upper_ = std::move(parts.upper);
  ranks.lower_ = std::move(parts.lower);
  ranks.summarize();
  return ranks;
}

}  // namespace tare
