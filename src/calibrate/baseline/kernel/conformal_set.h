// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/level.h"

namespace tare {

/// The largest number of targets in a set; ranking compares each with each.
inline constexpr std::size_t kMostSetRows = 2000;

/// How the densities of a set are estimated; must not depend on the targets that the set ranks.
struct SetKernel {
  double center = 0.0;        // a number amid the targets, from which they are measured
  double bandwidth = 1.0;     // above 0, in the unit of the target
  double tolerance = 0.0625;  // by how much an end may lie too far out, in bandwidths
};

/// Conformal prediction sets by kernel density (Lei, Wasserman 2014) from the n targets of one cell
/// of the features' space, for all levels.
///
/// A value y belongs to the set of rank k if, with y as one more target, at least k of the n
/// targets have a density that is not above y's. In the density of all n + 1, y's own term and
/// that of target i are the same for both, so that row i counts just if y is at least as dense as
/// target i among the other n - 1. If the next target is exchangeable with these n, it belongs to
/// the set of rank k with a probability of at least 1 - k / (n + 1).
///
/// A set may have gaps. The answer at tau and 1 - tau are the ends of its hull, with k the largest
/// rank that keeps a probability of 1 - 2 tau, and at least 1: beyond n / (n + 1) only all numbers
/// would do. At 0.5 it is the densest target. Ends are rounded away from the middle, never towards
/// it. With weights a cumulative mass replaces the rank, and the next row has the largest weight.
///
/// The kernel is normal, plus 1e-9 of one with wide tails, so that far targets are compared by
/// their distances and not by rounding.
class ConformalSet {
 public:
  /// Takes 1 to kMostSetRows finite targets; `weight` is empty or positive. Time O(n^2).
  ConformalSet(std::span<const double> y, std::span<const double> weight, const SetKernel& kernel);

  /// Finite, and does not decrease with the level.
  double answer(Level level) const;

  void save(const TensorWriter& out) const;
  /// Throws kCorruptFile.
  static ConformalSet load(const TensorReader& in);

 private:
  ConformalSet() = default;

  std::uint64_t next_ = 0;          // mass of the next target; 1 if all count the same
  std::uint64_t total_ = 0;         // of all targets and the next
  std::vector<std::int64_t> mass_;  // ranks at which an end moves, rising
  std::vector<double> lower_;       // ends of the sets of these ranks: these do not fall
  std::vector<double> upper_;       // and these do not rise
  double densest_ = 0.0;
};

}  // namespace tare
