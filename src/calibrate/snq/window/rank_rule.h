// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "math/weighted_quantile.h"
#include "tare/base/level.h"
#include "tare/base/params.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// The option `ranks` of the methods.
inline constexpr ParamInfo kRanksOption = {
    "ranks", "expected",
    "which rank of a window gives the quantile of a level: expected (its expected level is the "
    "requested level) or paper (Algorithm 1: too narrow for small windows)"};

/// Turns levels into ranks among the rows of one window, and the values at those ranks into
/// quantiles. One per thread: it keeps what it computed for the last size of a window.
///
/// Ranks::kPaper: the value of rank ceil(tau k), as it is.
/// Ranks::kExpected: the i-th of n independent draws lies, on average, at level i / (n + 1). The
/// quantile of level tau is therefore the value at rank p = (n + 1) tau, interpolated between
/// neighbouring ranks. For p < 1 the answer lies beyond the smallest value: on the exponential tail
/// (a straight line in log p) through the values of ranks 1 and 1 + kTailRanks. The upper tail is
/// its mirror image. Weights count as n = round((sum w)^2 / sum w^2) equal rows, of which the i-th
/// is the weighted quantile of level (i - 1/2) / n; for equal weights that is the i-th row. With at
/// most kFewRows equal rows the spread is poorly determined, and rows with small weights add
/// information: the answer is then the paper's if that lies farther from the median.
class RankRule {
 public:
  /// Rows from the extreme to the second row that a tail goes through, where the window has them.
  /// On samples of 5 to 40 rows from six distributions 3 brought the mean level of the 0.01, 0.02
  /// and 0.05 quantiles nearest to the level (docs/decisions/0022-ranks-that-keep-their-level.md).
  static constexpr std::size_t kTailRanks = 3;

  static constexpr std::size_t kFewRows = 3;

  RankRule() = default;
  /// Levels ascend and must outlive this.
  RankRule(Ranks kind, std::span<const Level> levels) { start(kind, levels); }
  /// The same, with the memory that is there.
  void start(Ranks kind, std::span<const Level> levels);

  /// The most ranks that any window needs.
  std::size_t most_ranks() const noexcept;
  /// What is needed of a window of `count` equal rows, 1 <= count < 2^32: ranks from 1 to count
  /// that never fall.
  std::span<const std::uint32_t> ranks(std::size_t count);
  /// What is needed of a window with weights: cumulative weights that never fall. The value wanted
  /// is the smallest whose cumulative weight is at least as large.
  std::span<const double> targets(double total, double effective_size, WeightType type);
  std::span<const double> targets(const WeightSums& sums, WeightType type) {
    return targets(sums.total, sums.effective_size(), type);
  }

  /// From the values at the ranks or targets asked for last to the quantiles of the levels. They
  /// never cross and are finite.
  void answer(std::span<const double> values, std::span<double> out) const;

 private:
  /// A quantile is a + share (b - a), for values a and b of two ranks; share < 0 in a tail.
  struct Mix {
    std::uint32_t a = 0;  // which of ranks_
    std::uint32_t b = 0;
    double share = 0.0;
  };
  void plan(std::size_t count);
  void add_paper_targets(double total);
  std::uint32_t need(std::uint32_t rank);

  Ranks kind_ = Ranks::kPaper;
  std::span<const Level> levels_;
  std::size_t count_ = 0;  // that ranks_ are for
  std::vector<std::uint32_t> ranks_;
  std::vector<double> targets_;
  std::vector<Mix> mixes_;  // of each level; kExpected only
  // Where the paper's targets are merged into targets_: the places of both, else empty.
  std::vector<double> own_targets_;
  std::vector<double> paper_targets_;
  std::vector<std::uint32_t> own_at_;
  std::vector<std::uint32_t> paper_at_;
};

}  // namespace tare
