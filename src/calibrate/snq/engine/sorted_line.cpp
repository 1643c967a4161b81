// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/snq/engine/sorted_line.h"

#include <algorithm>
#include <utility>

#include "calibrate/snq/window/local_sample.h"

namespace tare {
namespace {

/// The first of low, ..., high - 1 that `holds`, or high; all behind it hold, too. Steps away from
/// the guess, each twice as long, until the place is between two of them.
template <class Holds>
std::size_t first_where(std::size_t low, std::size_t high, std::size_t guess, const Holds& holds) {
  guess = std::clamp(guess, low, high);
  std::size_t step = 1;
  if (guess < high && !holds(guess)) {
    low = guess + 1;
    while (low + step < high && !holds(low + step)) {
      low += step + 1;
      step *= 2;
    }
    high = std::min(high, low + step);
  } else {
    high = guess;
    while (high >= low + step && holds(high - step)) {
      high -= step;
      step *= 2;
    }
    low = high >= low + step ? high - step + 1 : low;
  }
  while (low < high) {
    const std::size_t at = low + (high - low) / 2;
    if (holds(at)) {
      high = at;
    } else {
      low = at + 1;
    }
  }
  return low;
}

}  // namespace

SortedLine::SortedLine(std::span<const double> feature) {
  std::vector<std::pair<double, std::uint32_t>> rows;
  rows.reserve(feature.size());
  for (const double value : feature) {
    rows.emplace_back(value, static_cast<std::uint32_t>(rows.size()));
  }
  std::sort(rows.begin(), rows.end());
  values_.reserve(rows.size());
  places_.reserve(rows.size());
  for (const auto& [value, place] : rows) {
    values_.push_back(value);
    places_.push_back(place);
  }
}

std::vector<std::uint32_t> SortedLine::positions() const {
  std::vector<std::uint32_t> positions(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    positions[places_[i]] = static_cast<std::uint32_t>(i);
  }
  return positions;
}

double SortedLine::squared(double z, std::size_t position) const {
  const double difference = values_[position] - z;
  return std::min(difference * difference, LocalSample::kFarthestRow);
}

SortedLine::Window SortedLine::within(double z, double reach2, const Window& guess) const {
  // Squares fall up to z and rise from there, rounded or not.
  const std::size_t middle = first_where(0, values_.size(), guess.first + guess.rows() / 2,
                                         [&](std::size_t i) { return !(values_[i] < z); });
  const auto first =
      first_where(0, middle, guess.first, [&](std::size_t i) { return squared(z, i) <= reach2; });
  const auto last = first_where(middle, values_.size(), guess.last,
                                [&](std::size_t i) { return squared(z, i) > reach2; });
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

SortedLine::Window SortedLine::nearest(double z, std::size_t count, double tie_tolerance,
                                       const Window& guess) const {
  const std::size_t wanted = std::min(count, values_.size());
  const auto stays = [&](std::size_t at) {
    // Moving on drops the row at `at` for the one at `at + wanted`.
    const bool nearer = values_[at + wanted] <= z || squared(z, at) > squared(z, at + wanted);
    return !(values_[at] < z && nearer);
  };
  const std::size_t low = first_where(0, values_.size() - wanted, guess.first, stays);
  const double reach2 = std::max(squared(z, low), squared(z, low + wanted - 1));
  return within(z, tied_reach(reach2, tie_tolerance),
                {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low + wanted)});
}

void LineSweep::move_to(const SortedLine::Window& window) {
  const auto places = line_.places();
  if (window.first >= at_.last || window.last <= at_.first) {  // nothing in common
    for (; at_.first < at_.last; ++at_.first) inside_.remove(places[at_.first]);
    at_ = {window.first, window.first};
  }
  // Rows enter before others leave, so that the window is never turned inside out.
  while (at_.last < window.last) inside_.add(places[at_.last++]);
  while (at_.first > window.first) inside_.add(places[--at_.first]);
  while (at_.last > window.last) inside_.remove(places[--at_.last]);
  while (at_.first < window.first) inside_.remove(places[at_.first++]);
}

}  // namespace tare
