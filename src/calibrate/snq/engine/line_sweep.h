// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "calibrate/snq/engine/sorted_line.h"
#include "index/rank_window.h"

namespace tare {

/// A window that moves along a line and knows its ranks. Each row enters and leaves once where
/// queries come in the order of the line, so that a query costs little more than its ranks.
class LineSweep {
 public:
  /// The line must outlive this.
  explicit LineSweep(const SortedLine& line) : line_(line), inside_(line.rows()) {}

  void move_to(const SortedLine::Window& window);
  const SortedLine::Window& window() const noexcept { return at_; }
  /// For a while: without one of its rows, which must be put back before the window moves.
  void take_out(std::uint32_t place) { inside_.remove(place); }
  void put_back(std::uint32_t place) { inside_.add(place); }
  std::size_t rows() const noexcept { return inside_.size(); }

  /// The places of these ranks, which never fall and lie in 1, ..., rows().
  void select(std::span<const std::uint32_t> ranks, std::span<std::uint32_t> places) const {
    inside_.select(ranks, places);
  }

 private:
  const SortedLine& line_;
  RankWindow inside_;
  SortedLine::Window at_;
};

}  // namespace tare
