// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/tensor_store.h"
#include "tare/base/level.h"

namespace tare {

/// Moves the quantiles of any method so that each keeps its level in the long run, whatever the
/// targets do (docs/decisions/0028).
///
/// Level tau has a number theta, 0 at first, and the answer is base + spread sinh(theta). After
/// each target theta rises by step * tau if the target is above the answer, and falls by step * (1
/// - tau) otherwise. So the share of targets at or below the answer is exactly tau - theta / (step
/// * rows), and theta cannot leave a range that grows with the logarithm of the largest |target -
/// base| / spread. Answers are rounded, so the distance to the next number counts as part of
/// |target - base|.
class CoverageKeeper {
 public:
  /// Levels ascend.
  explicit CoverageKeeper(std::vector<Level> levels);

  /// The answers for quantiles `base`, which ascend, and a positive spread. `out` ascends.
  void answer(std::span<const double> base, double spread, std::span<double> out) const;
  /// Learns a target. `base`, `spread` and `answers` are those of the time when the row was
  /// answered, and `late` is the number of targets learned between then and now.
  void learn(std::span<const double> base, double spread, std::span<const double> answers,
             double target, std::uint64_t late);

  std::uint64_t rows() const noexcept { return rows_; }
  /// Share of targets at or below the answers of level j, and the proven bound on its difference
  /// from the level for the rows so far. 0 and 1 if there are none.
  double share(std::size_t j) const;
  double bound(std::size_t j) const;

  static constexpr double kStep = 0.02;

  void save(const TensorWriter& out) const;
  void load(const TensorReader& in);

 private:
  std::size_t anchor() const noexcept { return levels_.size() / 2; }
  /// From counts, so that it has no rounding that grows with the rows.
  double theta(std::size_t j) const;

  std::vector<Level> levels_;
  std::vector<std::int64_t> below_;    // targets at or below the answer
  std::vector<std::int64_t> crossed_;  // 1: an answer may have been moved to its neighbour's
  double reach_ = 0.0;      // largest asinh(|target - base| / spread) so far, rounding included
  std::uint64_t late_ = 0;  // largest number of targets between answer and target
  std::uint64_t rows_ = 0;
};

}  // namespace tare
