// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/kd_tree.h"
#include "tare/base/matrix.h"

namespace tare {

/// The rows around a group of near queries, sorted by place once for all of them.
///
/// Rows that every query of the group reaches are only counted. The others are kept column by
/// column in the order of their places: testing them for one query gives a bit per row, already in
/// the order in which ranks are counted, so that a query neither collects nor sorts anything. The
/// cost of a query grows with the number of rows at the boundary of its window, not with the number
/// inside.
class SharedWindow {
 public:
  /// Finds what lies within sqrt(reach2) of the queries `group` (rows of `queries`).
  void open(const KdTree& tree, MatrixView queries, std::span<const std::uint32_t> group,
            double reach2);
  /// The same for one query.
  void open(const KdTree& tree, std::span<const double> query, double reach2);

  /// Rows around the group: slots 0, 1, ...; first the sure ones, then the others, each in order.
  std::size_t slots() const noexcept { return sure_.size() + places_.size(); }
  std::uint32_t place(std::size_t slot) const noexcept {
    return slot < sure_.size() ? sure_[slot] : places_[slot - sure_.size()];
  }

  /// Finds the rows within reach of one query of the group. Returns how many.
  std::size_t look(std::span<const double> query);
  /// After look: slots[j] = slot of the ranks[j]-th row in reach in the order of places, counted
  /// from
  /// 1. Ranks ascend.
  void select(std::span<const std::uint32_t> ranks, std::span<std::uint32_t> slots) const;

 private:
  void sort_found(const KdTree& tree);

  KdTree::Found found_;
  KeyList spare_;
  std::vector<double> low_;
  std::vector<double> high_;
  double reach2_ = 0.0;
  std::size_t dims_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint32_t> sure_;         // places
  std::vector<std::uint32_t> places_;       // of the others
  std::vector<double> columns_;             // of the others, 64 * words_ a column, padded
  std::vector<std::uint32_t> sure_before_;  // sure rows with a smaller place than this other
  std::vector<std::uint64_t> mask_;
  std::vector<std::uint32_t> before_;
};

}  // namespace tare
