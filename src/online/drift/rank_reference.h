// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare {

/// Random numbers of one row. They are independent of the scores.
struct RankDraw {
  double tie = 0.5;         // in (0, 1): the place among equal scores
  std::size_t removed = 0;  // which score leaves a full reference, by rank; see place()
};

/// Where a score stands among those of the reference and itself. above = 1 - below, and both are
/// positive; two numbers keep the digits of both ends.
struct RankPlace {
  double below = 0.5;
  double above = 0.5;
};

/// At most `most` earlier scores, sorted, among which a new score is ranked.
///
/// If scores are exchangeable, the places of all rows are independent and uniform on (0, 1),
/// however many scores are equal. This is why a full reference drops a score with a uniformly
/// random rank among all `most` + 1, the new score included: the scores that stay are then a random
/// part of them, and say nothing about which of them was new. A reservoir (a uniform sample of all
/// earlier rows) or the first rows, frozen, would not do: their places are dependent, because one
/// reference is used again and again.
class RankReference {
 public:
  explicit RankReference(std::size_t most) : most_(most) {}
  /// With scores, ascending, at most `most`.
  RankReference(std::size_t most, std::vector<double> sorted);

  /// Ranks a score and then adds it. `draw.removed` counts if the reference is full: uniform on
  /// 0, ..., size(). O(log size) comparisons, and at most `size` numbers are moved.
  RankPlace place(double score, const RankDraw& draw);

  std::size_t size() const { return sorted_.size(); }
  std::span<const double> sorted() const { return sorted_; }

 private:
  void replace(std::size_t at, double score, std::size_t removed);

  std::size_t most_;
  std::vector<double> sorted_;
};

}  // namespace tare
