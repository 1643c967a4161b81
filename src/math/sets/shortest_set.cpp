// SPDX-License-Identifier: BSD-3-Clause
#include "math/sets/shortest_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/fail.h"
#include "math/isotonic.h"

namespace tare {
namespace {

constexpr std::uint32_t kParts = 16;         // of a cell
constexpr std::uint32_t kUnits = 1'000'000;  // all levels are multiples of 1 / kUnits

// Chosen on rows of which 40, 100 or 300 draws are known, from eleven distributions: normal,
// exponential, uniform, gamma, lognormal, Student t, three with two modes, counts, and a mass.
// Probability to each side over which a width is averaged to find modes and valleys, and of a whole
// window at an end: the ends of an empirical distribution are flat, which is no mass.
constexpr double kWideReach = 0.08;
constexpr double kLeastWindow = 0.1;
// To compare widths; less in the tails.
constexpr double kFineReach = 0.04;
constexpr double kShareOfTail = 0.5;
constexpr double kLeastHalf = 0.05;  // probability on each side of a valley
/// A valley is clear if the width over the probability is this many times that of the weaker of the
/// two modes, and of the middle 80 % of the distribution. The first keeps noise out, the second
/// keeps counts in one part, whose every value is a mode.
constexpr double kValleyToMode = 3.0;
constexpr double kValleyToMean = 2.0;

/// First and last cell over which a width is averaged.
struct Window {
  std::size_t from = 0, to = 0;
};

struct SetGrid {
  std::vector<Level> levels;
  std::vector<std::uint32_t> mass;    // of each cell, in units
  std::vector<std::uint32_t> before;  // of all cells before one, and of all
  std::vector<double> centre;         // of each cell: a level
  std::vector<Window> wide;           // to find modes and valleys
};

/// The cells of first, ..., last whose centres are within `far` of that of cell j.
Window cells_within(const SetGrid& grid, std::size_t j, double far, const Window& limits) {
  constexpr double kRounding = 1e-9;
  Window window{j, j};
  const auto is_near = [&](std::size_t k) {
    return std::abs(grid.centre[k] - grid.centre[j]) <= far + kRounding;
  };
  while (window.from > limits.from && is_near(window.from - 1)) --window.from;
  while (window.to < limits.to && is_near(window.to + 1)) ++window.to;
  return window;
}

Window wide_window(const SetGrid& grid, std::size_t j) {
  const std::size_t last = grid.mass.size() - 1;
  Window window = cells_within(grid, j, kWideReach, {0, last});
  while (static_cast<double>(grid.before[window.to + 1] - grid.before[window.from]) <
         kLeastWindow * kUnits) {
    if (window.from > 0) --window.from;
    if (window.to < last) ++window.to;
  }
  return window;
}

SetGrid make_set_grid() {
  std::vector<std::uint32_t> lower = {1, 100, 500, 1000};
  for (std::uint32_t k = 1; k < 10; ++k) lower.push_back(2000 * k);
  for (std::uint32_t k = 5; k < 125; ++k) lower.push_back(4000 * k);
  std::vector<std::uint32_t> units = lower;
  units.push_back(kUnits / 2);
  for (std::size_t k = lower.size(); k-- > 0;) units.push_back(kUnits - lower[k]);
  SetGrid grid;
  for (const std::uint32_t unit : units) {
    // The quotient is the double nearest to the decimal.
    grid.levels.emplace_back(static_cast<double>(unit) / static_cast<double>(kUnits));
    grid.before.push_back(unit - units.front());
  }
  for (std::size_t j = 0; j + 1 < units.size(); ++j) grid.mass.push_back(units[j + 1] - units[j]);
  for (std::size_t j = 0; j < grid.mass.size(); ++j) {
    grid.centre.push_back(0.5 * (grid.levels[j].value() + grid.levels[j + 1].value()));
  }
  for (std::size_t j = 0; j < grid.mass.size(); ++j) grid.wide.push_back(wide_window(grid, j));
  return grid;
}

const SetGrid& set_grid() {
  static const SetGrid kGrid = make_set_grid();
  return kGrid;
}

double width_of(std::span<const double> quantiles, std::size_t first, std::size_t last) {
  const double width = quantiles[last + 1] - quantiles[first];
  return std::isnan(width) ? std::numeric_limits<double>::infinity() : width;
}

double mean_width(std::span<const double> quantiles, const Window& window) {
  const SetGrid& grid = set_grid();
  const auto mass = static_cast<double>(grid.before[window.to + 1] - grid.before[window.from]);
  return width_of(quantiles, window.from, window.to) / mass;
}

/// Width over probability around each cell of some, without looking past these.
void measure_widely(std::span<const double> quantiles, const Window& cells, std::span<double> out) {
  const SetGrid& grid = set_grid();
  for (std::size_t j = cells.from; j <= cells.to; ++j) {
    out[j] = mean_width(
        quantiles, {std::max(cells.from, grid.wide[j].from), std::min(cells.to, grid.wide[j].to)});
  }
}

/// The same to compare widths, over less the nearer a cell is to the first or the last.
void measure_finely(std::span<const double> quantiles, const Window& cells, std::span<double> out) {
  const SetGrid& grid = set_grid();
  const double low = grid.levels[cells.from].value();
  const double high = grid.levels[cells.to + 1].value();
  for (std::size_t j = cells.from; j <= cells.to; ++j) {
    const double from_end = std::min(grid.centre[j] - low, high - grid.centre[j]);
    const double far = std::min(kFineReach, kShareOfTail * from_end);
    out[j] = mean_width(quantiles, cells_within(grid, j, far, cells));
  }
}

/// The cell that separates two modes, if there is one. `width` is that of the whole line.
std::optional<std::size_t> find_valley(std::span<const double> quantiles,
                                       std::span<const double> width) {
  const SetGrid& grid = set_grid();
  const std::size_t cells = width.size();
  std::vector<double> least_after(cells + 1, std::numeric_limits<double>::infinity());
  for (std::size_t j = cells; j-- > 0;) least_after[j] = std::min(least_after[j + 1], width[j]);
  const auto at = [&](double level) {
    return static_cast<std::size_t>(
        std::ranges::lower_bound(grid.levels, level, {}, &Level::value) - grid.levels.begin());
  };
  const double mean = width_of(quantiles, at(0.1), at(0.9) - 1) / (0.8 * kUnits);
  std::optional<std::size_t> best;
  double best_ratio = 1.0;
  double least_before = width[0];
  for (std::size_t j = 1; j + 1 < cells; ++j) {
    const double level = grid.levels[j].value();
    const double weaker = std::max(least_before, least_after[j + 1]);
    least_before = std::min(least_before, width[j]);
    if (level < kLeastHalf || level > 1.0 - kLeastHalf) continue;
    const double needed = std::max(kValleyToMode * weaker, kValleyToMean * mean);
    if (!(width[j] > needed * best_ratio)) continue;
    best = j;
    best_ratio = needed > 0.0 ? width[j] / needed : std::numeric_limits<double>::infinity();
  }
  if (!best) return best;
  // The widest cell near by: at a jump between two values the one that jumps.
  std::size_t widest = *best;
  const auto own = [&](std::size_t j) { return width_of(quantiles, j, j) / grid.mass[j]; };
  const std::size_t last = std::min(cells - 2, grid.wide[*best].to);
  for (std::size_t j = std::max<std::size_t>(1, grid.wide[*best].from); j <= last; ++j) {
    if (own(j) > own(widest)) widest = j;
  }
  return widest;
}

/// Makes the widths of some cells non-decreasing in the order given. Infinite ones stay behind.
void grow(std::span<double> width, std::span<const std::size_t> cells) {
  const SetGrid& grid = set_grid();
  double largest = 0.0;  // sums of values up to 1 do not overflow
  for (const std::size_t cell : cells) {
    if (std::isfinite(width[cell])) largest = std::max(largest, width[cell]);
  }
  std::vector<double> values;
  std::vector<double> weights;
  for (const std::size_t cell : cells) {
    if (!std::isfinite(width[cell])) break;
    values.push_back(largest > 0.0 ? width[cell] / largest : 0.0);
    weights.push_back(static_cast<double>(grid.mass[cell]));
  }
  const std::vector<double> grown = isotonic_regression(values, weights);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    width[cells[k]] =
        k < grown.size() ? grown[k] * largest : std::numeric_limits<double>::infinity();
  }
}

}  // namespace

bool RowSet::contains(double y) const {
  for (std::size_t k = 0; k < parts; ++k) {
    if (part[k].low <= y && y <= part[k].high) return true;
  }
  return false;
}

double RowSet::length() const {
  double sum = 0.0;
  for (std::size_t k = 0; k < parts; ++k) {
    if (part[k].low < part[k].high) sum += part[k].high - part[k].low;
  }
  return sum;
}

std::span<const Level> set_levels() { return set_grid().levels; }

SetPlace whole_place() { return {kParts * set_grid().before.back(), 0.0}; }

SetPlace nominal_place(Level coverage) {
  // A cell comes in by steps of its probability over 16: one more, so that no set has less.
  static const std::uint32_t kStep = std::ranges::max(set_grid().mass) - 1;
  const auto wanted = static_cast<std::uint32_t>(coverage.rank(std::uint64_t{kParts} * kUnits));
  return {std::min(wanted + kStep, whole_place().entry), 0.0};
}

ShortestFamily::ShortestFamily(std::span<const double> quantiles)
    : quantiles_(quantiles.begin(), quantiles.end()) {
  const SetGrid& grid = set_grid();
  if (quantiles.size() != grid.levels.size()) {
    fail(ErrorCode::kShapeMismatch, "a shortest set needs {} quantiles of a row, got {}",
         grid.levels.size(), quantiles.size());
  }

  const std::size_t cells = grid.mass.size();
  std::vector<double> width(cells);
  measure_widely(quantiles_, {0, cells - 1}, width);
  const std::optional<std::size_t> valley = find_valley(quantiles_, width);
  split_ = valley.has_value();
  steps_.reserve(cells);
  if (!valley) {
    add_half(0, cells - 1, 0, width);
  } else {
    add_half(0, *valley - 1, 0, width);
    add_half(*valley + 1, cells - 1, 1, width);
    // The valley joins what is left of it, once both sides have reached it.
    width[*valley] = std::max({width_of(quantiles_, *valley, *valley) / grid.mass[*valley],
                               width[*valley - 1], width[*valley + 1]});
    steps_.push_back({.before = 0, .cell = static_cast<std::uint16_t>(*valley)});
  }
  std::ranges::stable_sort(steps_, {}, [&](const Step& step) { return width[step.cell]; });
  std::uint32_t before = 0;
  for (Step& step : steps_) {
    step.before = before;
    before += kParts * grid.mass[step.cell];
  }
}

/// Makes the widths of the cells first, ..., last grow from the narrowest one outwards, and adds
/// the cells, from there outwards.
void ShortestFamily::add_half(std::size_t first, std::size_t last, std::uint8_t half,
                              std::vector<double>& width) {
  measure_widely(quantiles_, {first, last}, width);
  const auto mode = static_cast<std::size_t>(
      std::min_element(width.begin() + static_cast<std::ptrdiff_t>(first),
                       width.begin() + static_cast<std::ptrdiff_t>(last) + 1) -
      width.begin());
  start_[half] = quantiles_[mode];
  measure_finely(quantiles_, {first, last}, width);
  const auto add_side = [&](std::span<const std::size_t> cells, bool leftwards) {
    grow(width, cells);
    for (std::size_t k = 0; k < cells.size(); ++k) {
      steps_.push_back({.before = 0,
                        .cell = static_cast<std::uint16_t>(cells[k]),
                        .half = half,
                        .leftwards = leftwards});
    }
  };
  std::vector<std::size_t> right(last - mode + 1);
  std::iota(right.begin(), right.end(), mode);
  std::vector<std::size_t> left(mode - first);
  std::iota(left.rbegin(), left.rend(), first);
  add_side(right, false);
  if (!left.empty()) add_side(left, true);
}

/// The value that lies so many sixteenths of the way through a cell. It does not decrease with
/// them, rounding included. Within a cell without a finite width it is the end that is finite.
double ShortestFamily::border(std::size_t cell, std::uint32_t sixteenth) const {
  const double low = quantiles_[cell];
  const double high = quantiles_[cell + 1];
  if (sixteenth == 0) return low;
  if (sixteenth == kParts) return high;
  const double step = high - low;
  if (!std::isfinite(step)) return std::isfinite(low) ? low : high;
  return std::min(low + step * (static_cast<double>(sixteenth) / kParts), high);
}

SetPlace ShortestFamily::place_of(double y) const {
  const SetGrid& grid = set_grid();
  SetPlace place = whole_place();
  const double lowest = quantiles_.front();
  const double highest = quantiles_.back();
  if (y < lowest || y > highest) {
    const auto holds = [&](double by) { return y < lowest ? lowest - by <= y : highest + by >= y; };
    constexpr double kMost = std::numeric_limits<double>::max();
    double by = std::min(y < lowest ? lowest - y : y - highest, kMost);
    while (!holds(by)) by = std::nextafter(by * (1.0 + 1e-15), HUGE_VAL);
    place.beyond = by;
    return place;
  }
  for (const Step& step : steps_) {
    if (!(quantiles_[step.cell] <= y && y <= quantiles_[step.cell + 1])) continue;
    std::uint32_t inside = 1;  // sixteenths that have to come in
    while (inside < kParts) {
      const double reached = border(step.cell, step.leftwards ? kParts - inside : inside);
      if (step.leftwards ? reached <= y : reached >= y) break;
      ++inside;
    }
    place.entry = std::min(place.entry, step.before + inside * grid.mass[step.cell]);
  }
  return place;
}

RowSet ShortestFamily::at(const SetPlace& place) const {
  const SetGrid& grid = set_grid();
  if (place >= whole_place()) {
    if (std::isinf(place.beyond)) return {.part = {{{-place.beyond, place.beyond}}}};
    return {.part = {{{quantiles_.front() - place.beyond, quantiles_.back() + place.beyond}}}};
  }
  std::array<bool, kMostRowSetParts> open = {};
  std::array<RowSet::Part, kMostRowSetParts> reached = {};
  for (std::size_t k = 0; k < kMostRowSetParts; ++k) reached[k] = {start_[k], start_[k]};
  open[steps_.front().half] = true;
  for (const Step& step : steps_) {
    if (step.before >= place.entry) break;
    const std::uint32_t inside =
        std::min(kParts, (place.entry - step.before) / grid.mass[step.cell]);
    if (inside == 0) break;
    open[step.half] = true;
    RowSet::Part& own = reached[step.half];
    if (step.leftwards) {
      own.low = border(step.cell, kParts - inside);
    } else {
      own.high = border(step.cell, inside);
    }
    if (inside < kParts) break;
  }
  if (open[0] && open[1]) {
    if (reached[0].high < reached[1].low) return {.part = reached, .parts = 2};
    return {.part = {{{reached[0].low, reached[1].high}}}};
  }
  return {.part = {{open[0] ? reached[0] : reached[1]}}};
}

}  // namespace tare
