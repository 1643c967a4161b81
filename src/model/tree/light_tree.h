// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/tree/binned_rows.h"
#include "model/tree/tree_ensemble.h"

namespace tare {

/// A tree of at most four leaves on binned rows. A row goes left where its bin is below the
/// split's.
struct LightTree {
  static constexpr std::uint32_t kNoSplit = BinnedRows::kMaxBins;  // every row goes left
  struct Split {
    std::uint32_t column = 0;
    std::uint32_t bin = kNoSplit;
  };
  Split root;
  std::array<Split, 2> child;   // of the rows that went left, and right
  std::array<float, 4> leaf{};  // two below each child

  /// The same as nodes that compare values.
  TreeNodes nodes(const BinnedRows& binned) const;
};

/// Rows as light trees see them: bins column after column, and of each row what is to be explained
/// and its weight.
struct LightData {
  std::span<const std::uint8_t> bins;
  std::size_t columns = 0;
  std::span<const float> y;
  std::span<const float> weight;

  std::size_t rows() const noexcept { return y.size(); }
  const std::uint8_t* column(std::size_t j) const { return bins.data() + j * rows(); }
};

/// Rows first, ..., last - 1.
struct LightRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Finds the splits that lower the weighted squared error the most, first of all rows, then of
/// either side. An object, for its memory is used from tree to tree.
class LightGrower {
 public:
  /// Looks at the rows of both ranges; a leaf holds at least the weight `min_leaf` of them. Leaves
  /// are 0. Of equal splits the one of the first column and the lowest bin is taken.
  LightTree grow(const LightData& data, const std::array<LightRange, 2>& rows, double min_leaf);

 private:
  /// Of weight times y, and of weight: two floats that are added at once.
  using Sums = float __attribute__((vector_size(8)));
  struct Found {
    LightTree::Split split;
    double gain = 0.0;
  };
  using Histogram = std::array<Sums, BinnedRows::kMaxBins>;
  void count(const LightData& data, const std::array<LightRange, 2>& rows);
  void count_sides(const LightData& data, const LightTree::Split& split,
                   const std::array<LightRange, 2>& rows);
  Found best_split(std::size_t columns, std::size_t side, double min_leaf) const;

  std::vector<Sums> sums_;                           // of each row alone
  std::vector<std::uint32_t> counted_;               // rows of the smaller side
  std::array<std::vector<Histogram>, 2> histogram_;  // of either side, for each column
};

/// leaf[k], 0 to 3, of row first + k.
void find_leaves(const LightTree& tree, const LightData& data, std::size_t first,
                 std::span<std::uint8_t> leaf);

}  // namespace tare
