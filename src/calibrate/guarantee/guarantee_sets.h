// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/guarantee/ranks/guarantee_mass.h"
#include "io/tensor_store.h"
#include "math/sets/shortest_set.h"
#include "tare/base/level.h"

namespace tare {

/// Finds a row's quantiles at set_levels() among those at `knots`, which contain these levels.
class SetColumnsOfKnots {
 public:
  explicit SetColumnsOfKnots(std::span<const Level> knots);
  ShortestFamily family(std::span<const double> quantiles) const;

 private:
  std::vector<std::size_t> column_;
};

/// The ranks of the places at which the targets of held-out rows enter the nested sets of their
/// rows (ShortestFamily). A new row that is exchangeable with n of them is in its set at the
/// ceil((n + 1) c)-th smallest place with a probability of at least c, as its own place is equally
/// likely to have any rank among the n + 1. Rows of unequal weight take ranks in proportion.
class SetRanks {
 public:
  SetRanks() = default;
  /// line_of_row: other than the line of all rows, which is 0, in which each row is, or 0.
  SetRanks(std::span<const SetPlace> places, std::span<const Mass> masses,
           std::span<const std::size_t> line_of_row, std::size_t lines);

  bool empty() const noexcept { return lines_.empty(); }
  /// Whether the ranked rows are enough for a new row that counts `fresh`.
  bool keeps(std::size_t line, Level coverage, Mass fresh) const;
  /// The largest place if not.
  SetPlace place(std::size_t line, Level coverage, Mass fresh) const;
  /// What it keeps where rows count alike.
  double delivered(std::size_t line, Level coverage) const;

  void save(const TensorWriter& out) const;
  /// None for a file without them, or with sets that another version made otherwise. Throws
  /// kCorruptFile.
  static SetRanks load(const TensorReader& in, std::size_t lines);

 private:
  struct Line {
    std::vector<SetPlace> place;  // ascending
    std::vector<Mass> up_to;      // mass up to and with each
  };
  void add(std::vector<std::pair<SetPlace, Mass>> rows);

  std::vector<Line> lines_;
};

}  // namespace tare
