// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tare/base/params.h"

namespace tare {

/// Values below and above which no target can be; either may be missing.
struct TargetBounds {
  std::optional<double> low, high;

  bool empty() const noexcept { return !low && !high; }
  /// The nearest value within.
  double nearest(double value) const noexcept;
  /// As in the option: "0,", "0,1", or "none".
  std::string text() const;
};

/// The option `bounds`, which every method has.
std::span<const ParamInfo> bounds_options();

/// The requested bounds: detected, none, or given.
struct BoundsRule {
  bool find = true;
  TargetBounds given;
};
/// Text: auto, none, or LOW,HIGH with either side empty. Throws kInvalidArgument.
BoundsRule parse_bounds(const Params& params);

/// Detects bounds from the targets. A wrong bound is worse than none, so an end is used only if
/// many targets lie at it and none beyond, which does not happen in a smooth tail:
///
/// - 0 from below, where no target is negative and 0 is the value of at least 20 rows and of 1 % of
///   them; for targets that are all whole numbers 0.2 % are enough, and it may be the value 1 that
///   these rows share (counts of which zeros are not recorded);
/// - 0 and 1, where all targets lie between them and at least 20 rows and 1 % of them lie within
///   0.01 of either end (shares).
TargetBounds find_bounds(std::span<const double> y);

/// The bounds of a fit. Rows of zero weight are ignored; `weight` may be empty. Throws kBadData,
/// with the first such row and its value, if a target lies outside given bounds.
TargetBounds resolve_bounds(const BoundsRule& rule, std::span<const double> y,
                            std::span<const double> weight);

/// Whether all values are whole numbers that a double tells apart.
bool are_whole(std::span<const double> y);

}  // namespace tare
