// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "data/schema.h"
#include "tare/base/matrix.h"

namespace tare {

/// Builds windows of a series: row i becomes the `window` rows up to and including i, oldest first,
/// side by side. A row without a full window is left out. Rows are assumed to be in time order, one
/// step apart.
class Windows {
 public:
  /// window >= 1; 1 changes nothing.
  explicit Windows(std::size_t window) : window_(window) {}

  /// Replaces x by windows and leaves the first rows out of everything else. The last rows are
  /// stored, so that a series may arrive in parts.
  void apply(Encoded& encoded);
  /// Rows left out so far.
  std::size_t left_out() const noexcept { return left_out_; }

 private:
  std::size_t window_;
  std::size_t left_out_ = 0;
  Matrix past_;  // the last rows, at most window - 1 of them
};

/// Where columns of a row stand in its window: at every step, or at the last.
std::vector<std::size_t> at_every_step(const std::vector<std::size_t>& columns, std::size_t width,
                                       std::size_t window);
std::vector<std::size_t> at_last_step(const std::vector<std::size_t>& columns, std::size_t width,
                                      std::size_t window);

}  // namespace tare
