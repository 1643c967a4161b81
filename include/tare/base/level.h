// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// A quantile level, strictly between 0 and 1. The range is checked only here.
///
/// A level is the decimal number a person wrote: 0.07 means 7/100, although the nearest double is a
/// little more. The fraction is kept, so that "at least 0.07 of 100 rows" is 7 rows and not 8.
class Level {
 public:
  /// Throws kInvalidArgument outside (0, 1).
  explicit Level(double tau);

  double value() const noexcept { return tau_; }

  /// The smallest whole number that is at least tau * count, in exact arithmetic. At least 1 for
  /// count > 0, and at most count.
  std::uint64_t rank(std::uint64_t count) const noexcept;

  /// The largest whole number that is at most tau * count, in exact arithmetic: the rank from the
  /// other side. Less than count for count > 0.
  std::uint64_t rank_below(std::uint64_t count) const noexcept;

  /// The rank for the central interval between tau and 1 - tau: the smallest whole number that is
  /// at least |1 - 2 tau| * count, in exact arithmetic. 0.05 of 20 rows: 18. From 0 to count.
  std::uint64_t central_rank(std::uint64_t count) const noexcept;

  friend bool operator==(const Level& a, const Level& b) noexcept { return a.tau_ == b.tau_; }
  friend bool operator<(const Level& a, const Level& b) noexcept { return a.tau_ < b.tau_; }

 private:
  double tau_;
  std::uint64_t numerator_ = 0;    // of the shortest decimal that reads back as tau_
  std::uint64_t denominator_ = 0;  // a power of ten; 0 where tau_ is too small for one
};

/// The levels of the paper's metrics: 0.01 + 0.98 j / 99 for j = 0, ..., 99.
std::vector<Level> metric_levels();

/// Lower and upper level of the central interval that holds `confidence`: 0.9 gives 0.05 and 0.95.
/// Throws kInvalidArgument outside (0, 1).
std::pair<Level, Level> interval_levels(double confidence);

}  // namespace tare
