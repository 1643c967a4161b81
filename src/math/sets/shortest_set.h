// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/level.h"

namespace tare {

/// The most parts that a shortest set has.
inline constexpr std::size_t kMostRowSetParts = 2;

/// A set of targets for one row: closed intervals, ascending, that do not touch. A part may be a
/// point, [v, v].
struct RowSet {
  struct Part {
    double low = 0.0;
    double high = 0.0;
  };
  std::array<Part, kMostRowSetParts> part = {};
  std::size_t parts = 1;

  bool contains(double y) const;
  /// Of all parts together.
  double length() const;
};

/// Which set of a row's family: they grow with the place. The same place is another set for each
/// row.
struct SetPlace {
  std::uint32_t entry = 0;  // probability of the set, in units of 1/16,000,000
  double beyond = 0.0;  // by how much it exceeds the outermost quantiles, in units of the target
  friend auto operator<=>(const SetPlace&, const SetPlace&) = default;
};

/// The 267 levels whose quantiles make a family, ascending: steps of 0.004, of 0.002 from 0.02
/// outwards, and four more on each side down to 0.000001. All are among guarantee_levels().
std::span<const Level> set_levels();

/// The set that holds everything between the outermost quantiles.
SetPlace whole_place();
/// The set whose probability under the row's own distribution, straight lines between its
/// quantiles, is at least `coverage` and at most 0.00025 more; more where masses are, and less
/// where that is outside of the outermost quantiles.
SetPlace nominal_place(Level coverage);

/// The nested sets of highest density of one row's distribution, from its quantiles.
///
/// A cell is what lies between two neighbouring quantiles; its width over its probability is small
/// where the density is high. Widths are averaged over up to 0.08 of the probability, cut in two at
/// a valley if there is a clear one (shortest_set.cpp has the rule), and made to grow from the
/// narrowest place of each half outwards by isotonic regression. Cells enter in the order of these
/// widths, each of them in 16 steps from the side where the set is. So a set has at most two parts,
/// each set holds the ones before it, and a set without a valley is one interval. Since widths are
/// averaged, a set need not be the shortest of all with its probability, nor shorter than the
/// central interval: where quantiles are rough, that one would follow their noise.
class ShortestFamily {
 public:
  /// `quantiles` at set_levels(), ascending; they may be infinite.
  explicit ShortestFamily(std::span<const double> quantiles);

  /// The first place whose set contains a finite y: at(place_of(y)) contains y, and so does every
  /// set from there on.
  SetPlace place_of(double y) const;
  RowSet at(const SetPlace& place) const;

  /// Whether the distribution has a clear valley.
  bool is_split() const noexcept { return split_; }

 private:
  /// A cell in the order of entry.
  struct Step {
    std::uint32_t before = 0;  // entry from which on it comes in
    std::uint16_t cell = 0;
    std::uint8_t half = 0;
    bool leftwards = false;  // it comes in from its right end
  };

  double border(std::size_t cell, std::uint32_t sixteenth) const;
  void add_half(std::size_t first, std::size_t last, std::uint8_t half, std::vector<double>& width);

  std::vector<double> quantiles_;
  std::vector<Step> steps_;
  std::array<double, kMostRowSetParts> start_ = {};
  bool split_ = false;
};

}  // namespace tare
