// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/rank_window.h"

namespace tare {

/// The rows of a sample with one feature, side by side in the order of that feature: those near a
/// point are a window.
class SortedLine {
 public:
  /// Positions first, ..., last - 1.
  struct Window {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t rows() const noexcept { return last - first; }
  };

  /// feature[place], finite; places break ties.
  explicit SortedLine(std::span<const double> feature);

  std::size_t rows() const noexcept { return values_.size(); }
  /// places()[position].
  std::span<const std::uint32_t> places() const noexcept { return places_; }
  /// Where each place stands.
  std::vector<std::uint32_t> positions() const;

  /// As LocalSample measures it: at most kFarthestRow.
  double squared(double z, std::size_t position) const;
  /// All rows whose squared distance is at most reach2. It is found sooner where `guess` is near.
  Window within(double z, double reach2, const Window& guess) const;
  /// All rows that are no farther than the count-th nearest, or by no more than the tolerance (as
  /// in SnqOptions); all rows where there are fewer.
  Window nearest(double z, std::size_t count, double tie_tolerance, const Window& guess) const;
  Window all() const noexcept { return {0, static_cast<std::uint32_t>(values_.size())}; }

 private:
  std::vector<double> values_;
  std::vector<std::uint32_t> places_;
};

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
