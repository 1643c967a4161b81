// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/sorted_line.h"
#include "index/rank_window.h"
#include "tare/base/level.h"

namespace tare {

/// A window that moves along a line and knows its quantiles. Each row enters and leaves once where
/// queries come in the order of the line, so that a query costs little more than its levels.
class LineSweep {
 public:
  /// The line and the levels, which ascend, must outlive this.
  LineSweep(const SortedLine& line, std::span<const Level> levels)
      : line_(line), levels_(levels), inside_(line.rows()), ranks_(levels.size()) {}

  void move_to(const SortedLine::Window& window);
  const SortedLine::Window& window() const noexcept { return at_; }
  /// For a while: without one of its rows, which must be put back before the window moves.
  void take_out(std::uint32_t place) { inside_.remove(place); }
  void put_back(std::uint32_t place) { inside_.add(place); }
  std::size_t rows() const noexcept { return inside_.size(); }

  /// The place of each level's quantile: its rank is that of Level::rank. There is a row.
  void select(std::span<std::uint32_t> places);

 private:
  const SortedLine& line_;
  std::span<const Level> levels_;
  RankWindow inside_;
  SortedLine::Window at_;
  std::vector<std::uint32_t> ranks_;
  std::size_t ranks_of_ = 0;  // rows that ranks_ are for
};

}  // namespace tare
