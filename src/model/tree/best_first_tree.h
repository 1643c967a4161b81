// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/tree/binned_rows.h"
#include "model/tree/tree_ensemble.h"
#include "tare/base/rng.h"

namespace tare {

/// Rows as a tree of any shape sees them: their bins, and of each row what is to be explained and
/// its weight. Sums read the bins of a row, splits those of a column; each in order of memory.
struct BestFirstData {
  std::span<const std::uint8_t> by_row;     // row after row
  std::span<const std::uint8_t> by_column;  // the same, column after column
  std::span<const float> y;
  std::span<const float> weight;
};

struct BestFirstOptions {
  std::size_t leaves = 15;
  double min_leaf = 5.0;  // weight of a leaf, at least
  double columns = 1.0;   // share that a split may choose from
  double shrink = 1.0;    // added to a leaf's weight, which shrinks its mean towards 0
};

/// Grows a regression tree by splitting, again and again, the leaf whose split lowers the weighted
/// squared error most. An object, for its memory is used from tree to tree.
class BestFirstGrower {
 public:
  /// `binned` must outlive it.
  BestFirstGrower(const BinnedRows& binned, const BestFirstOptions& options);

  /// The tree of the rows `seen`. `others` are led down it and count for nothing. Both lists are
  /// reordered: the rows of a leaf come to stand side by side.
  ///
  /// Of equal splits the first of the columns drawn and the lowest bin is taken. A leaf predicts
  /// sum(weight y) / (sum(weight) + shrink).
  TreeNodes grow(const BestFirstData& data, std::span<std::uint32_t> seen,
                 std::span<std::uint32_t> others, Rng& rng);

  /// Calls use(row, value) for each row of both lists, with what the last tree predicts for it.
  template <class Use>
  void each_row(std::span<const std::uint32_t> seen, std::span<const std::uint32_t> others,
                const Use& use) const {
    for (const Leaf& leaf : leaves_) {
      const float value = leaf.value;
      for (std::size_t k = leaf.seen.first; k < leaf.seen.last; ++k) use(seen[k], value);
      for (std::size_t k = leaf.others.first; k < leaf.others.last; ++k) use(others[k], value);
    }
  }

 private:
  /// Of weight times y, and of weight: two numbers that are added at once.
  using Sums = double __attribute__((vector_size(16)));
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t size() const noexcept { return last - first; }
  };
  struct Split {
    std::size_t column = 0;
    std::size_t bin = 0;  // rows of lower bins go left
    double gain = 0.0;    // 0: none
  };
  struct Leaf {
    Range seen;
    Range others;
    std::size_t histogram = 0;  // its place
    std::int32_t node = 0;
    float value = 0.0F;
    Split split;
  };

  Sums* histogram(std::size_t place) { return histograms_.data() + place * bins_; }
  void count(const BestFirstData& data, std::span<const std::uint32_t> rows, Sums* histogram);
  void find_split(Leaf& leaf, Rng& rng);
  Split best_of_column(std::size_t column, const Sums* histogram, Sums all) const;
  void split_leaf(std::size_t at, const BestFirstData& data, std::span<std::uint32_t> seen,
                  std::span<std::uint32_t> others, TreeNodes& tree, Rng& rng);
  std::size_t partition(const BestFirstData& data, const Split& split,
                        std::span<std::uint32_t> rows);

  const BinnedRows& binned_;
  BestFirstOptions options_;
  std::size_t bins_ = 0;              // of all columns
  std::size_t fewest_ = 0;            // the column with the fewest
  std::vector<std::size_t> first_;    // bin of each column in a histogram
  std::vector<std::size_t> columns_;  // some of which a split may choose from
  std::size_t tried_ = 0;             // how many
  std::vector<Sums> sums_;            // of each row alone
  std::vector<Sums> histograms_;
  std::vector<std::uint32_t> right_;  // rows that go right, for a while
  std::vector<Leaf> leaves_;
};

}  // namespace tare
