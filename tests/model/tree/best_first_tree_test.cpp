// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/best_first_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace tare {
namespace {

struct Drawn {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> x, y, weight;
  std::vector<std::uint8_t> by_row, by_column;

  Drawn(std::size_t rows_wanted, std::size_t cols_wanted, bool weighted, Seed seed)
      : rows(rows_wanted), cols(cols_wanted) {
    Rng rng(seed);
    for (std::size_t i = 0; i < rows * cols; ++i) {
      // Some columns have few values, so that bins hold several rows.
      x.push_back(i % cols == 0 ? static_cast<float>(rng.below(5))
                                : static_cast<float>(rng.normal()));
    }
    for (std::size_t i = 0; i < rows; ++i) {
      y.push_back(static_cast<float>(rng.normal()) + x[i * cols]);
      weight.push_back(weighted ? static_cast<float>(rng.uniform(0.2, 3.0)) : 1.0F);
    }
  }
  void bin(const BinnedRows& binned) {
    by_row.resize(rows * cols);
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        by_row[i * cols + j] = binned.column(j)[i];
        by_column.push_back(binned.column(j)[i]);
      }
    }
  }
  BestFirstData data() const { return {by_row, by_column, y, weight}; }
};

/// The same tree by trying every threshold between two values on every leaf, with all sums afresh.
class SlowTree {
 public:
  SlowTree(const Drawn& drawn, std::vector<std::size_t> rows, const BestFirstOptions& options)
      : drawn_(drawn), options_(options), leaves_{std::move(rows)} {
    while (leaves_.size() < options.leaves && split_best()) {
    }
  }

  std::size_t leaves() const { return leaves_.size(); }
  double value(std::size_t row) const {
    for (const auto& leaf : leaves_) {
      if (std::ranges::find(leaf, row) == leaf.end()) continue;
      const auto [y, weight] = sums(leaf);
      return y / (weight + options_.shrink);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  std::pair<double, double> sums(const std::vector<std::size_t>& rows) const {
    double y = 0.0;
    double weight = 0.0;
    for (const std::size_t i : rows) {
      y += static_cast<double>(drawn_.weight[i]) * static_cast<double>(drawn_.y[i]);
      weight += static_cast<double>(drawn_.weight[i]);
    }
    return {y, weight};
  }
  double explained(const std::vector<std::size_t>& rows) const {
    const auto [y, weight] = sums(rows);
    return y * y / (weight + options_.shrink);
  }

  bool split_best() {
    double best = 1e-9;
    std::size_t at = 0;
    std::vector<std::size_t> left, right;
    for (std::size_t k = 0; k < leaves_.size(); ++k) {
      for (std::size_t j = 0; j < drawn_.cols; ++j) {
        for (const std::size_t cut : leaves_[k]) {
          std::vector<std::size_t> low, high;
          for (const std::size_t i : leaves_[k]) {
            const bool below = drawn_.x[i * drawn_.cols + j] < drawn_.x[cut * drawn_.cols + j];
            (below ? low : high).push_back(i);
          }
          if (sums(low).second < options_.min_leaf || sums(high).second < options_.min_leaf)
            continue;
          const double gain = explained(low) + explained(high) - explained(leaves_[k]);
          if (gain <= best * (1.0 + 1e-9)) continue;
          best = gain;
          at = k;
          left = low;
          right = high;
        }
      }
    }
    if (left.empty()) return false;
    leaves_[at] = left;
    leaves_.push_back(right);
    return true;
  }

  const Drawn& drawn_;
  BestFirstOptions options_;
  std::vector<std::vector<std::size_t>> leaves_;
};

TEST(BestFirstTree, IsTheOneThatTryingEverythingFinds) {
  for (std::uint64_t draw = 0; draw < 60; ++draw) {
    Drawn drawn(20 + draw % 40, 1 + draw % 3, draw % 2 == 1, Seed{draw});
    const BinnedRows binned(drawn.x, drawn.cols, {});
    drawn.bin(binned);
    const BestFirstOptions options{.leaves = 2 + draw % 7,
                                   .min_leaf = 1.0 + static_cast<double>(draw % 4),
                                   .columns = 1.0,
                                   .shrink = draw % 5 == 0 ? 0.0 : 0.7};
    BestFirstGrower grower(binned, options);
    std::vector<std::uint32_t> seen, others;
    std::vector<std::size_t> slow_rows;
    for (std::uint32_t i = 0; i < drawn.rows; ++i) {
      (i % 6 == 5 ? others : seen).push_back(i);
      if (i % 6 != 5) slow_rows.push_back(i);
    }
    Rng rng(Seed{1});
    const TreeNodes tree = grower.grow(drawn.data(), seen, others, rng);
    const SlowTree slow(drawn, slow_rows, options);
    EXPECT_EQ((tree.node.size() + 1) / 2, slow.leaves()) << "draw " << draw;

    std::vector<std::int32_t> ends(drawn.rows);
    find_tree_ends(tree, 0, drawn.x, drawn.cols, ends);
    std::size_t rows = 0;
    grower.each_row(seen, others, [&](std::uint32_t row, float value) {
      ++rows;
      // Rows that were not seen are where their values lead them.
      EXPECT_EQ(tree.node[static_cast<std::size_t>(ends[row])].value, value);
      if (row % 6 != 5) {
        EXPECT_NEAR(static_cast<double>(value), slow.value(row), 1e-5) << "draw " << draw;
      }
    });
    EXPECT_EQ(rows, drawn.rows);
  }
}

TEST(BestFirstTree, ALeafIsNeverTooLight) {
  Drawn drawn(400, 4, true, Seed{7});
  const BinnedRows binned(drawn.x, drawn.cols, {});
  drawn.bin(binned);
  BestFirstGrower grower(binned, {.leaves = 60, .min_leaf = 9.0, .columns = 0.5});
  std::vector<std::uint32_t> seen(400), others;
  std::iota(seen.begin(), seen.end(), 0U);
  Rng rng(Seed{2});
  const TreeNodes tree = grower.grow(drawn.data(), seen, others, rng);
  EXPECT_GT(tree.node.size(), 20U);
  std::vector<std::int32_t> ends(400);
  find_tree_ends(tree, 0, drawn.x, drawn.cols, ends);
  std::vector<double> weight(tree.node.size(), 0.0);
  for (std::size_t i = 0; i < 400; ++i) {
    weight[static_cast<std::size_t>(ends[i])] += static_cast<double>(drawn.weight[i]);
  }
  for (std::size_t k = 0; k < weight.size(); ++k) {
    if (tree.node[k].feature < 0) {
      EXPECT_GE(weight[k], 9.0 - 1e-9);
    }
  }
}

TEST(BestFirstTree, EqualTargetsMakeOneLeaf) {
  Drawn drawn(50, 2, false, Seed{9});
  std::ranges::fill(drawn.y, 0.0F);
  const BinnedRows binned(drawn.x, drawn.cols, {});
  drawn.bin(binned);
  BestFirstGrower grower(binned, {});
  std::vector<std::uint32_t> seen(50), others;
  std::iota(seen.begin(), seen.end(), 0U);
  Rng rng(Seed{3});
  EXPECT_EQ(grower.grow(drawn.data(), seen, others, rng).node.size(), 1U);
}

}  // namespace
}  // namespace tare
