// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/gradient_tree.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tare {
namespace {

struct Split {
  std::size_t column = 0;
  std::size_t bin = 0;  // rows below it go left; 0: there is no split
  double gain = 0.0;
};

/// Grows a tree node by node, breadth first, so that children come after their parent.
class Grower {
 public:
  Grower(const BinnedRows& data, const RowGradients& gradients, std::vector<std::size_t> rows,
         const GradientTreeShape& shape)
      : data_(data), gradients_(gradients), rows_(std::move(rows)), shape_(shape) {}

  TreeNodes grow() {
    struct Open {
      std::size_t first, last, depth;
    };
    TreeNodes tree;
    tree.root.push_back(0);
    tree.node.push_back({});
    std::vector<Open> open = {{0, rows_.size(), 0}};
    for (std::size_t k = 0; k < open.size(); ++k) {
      const auto [first, last, depth] = open[k];
      const Split split = depth < shape_.depth ? best_split(first, last) : Split{};
      if (split.bin == 0) continue;
      const std::size_t middle = divide(first, last, split);
      const auto left = static_cast<std::int32_t>(open.size());
      tree.node[k] = {static_cast<std::int32_t>(split.column), data_.edge(split.column, split.bin),
                      left, left + 1};
      open.push_back({first, middle, depth + 1});
      open.push_back({middle, last, depth + 1});
      tree.node.resize(open.size());
    }
    return tree;
  }

 private:
  std::size_t divide(std::size_t first, std::size_t last, const Split& split) {
    const auto bins = data_.column(split.column);
    const auto begin = rows_.begin();
    // Stable, so that sums are taken in the order of the rows.
    const auto middle = std::stable_partition(
        begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last),
        [&](std::size_t row) { return bins[row] < split.bin; });
    return static_cast<std::size_t>(middle - begin);
  }

  /// The sum over outputs of G^2 / W: by how much the squared error falls with the mean taken out.
  double purity(std::span<const float> sums) const {
    const float weight = sums.back();
    if (!(weight > 0.0F)) return 0.0;
    float squares = 0.0F;
    for (const float sum : sums.first(sums.size() - 1)) squares += sum * sum;
    return static_cast<double>(squares / weight);
  }

  Split best_split(std::size_t first, std::size_t last) {
    const std::size_t width = gradients_.width;
    total_.assign(width, 0.0F);
    for (std::size_t i = first; i < last; ++i) add(rows_[i], total_.data());
    Split best;
    if (static_cast<double>(total_.back()) < 2.0 * shape_.min_leaf) return best;
    const double whole = purity(total_);
    for (std::size_t column = 0; column < data_.cols(); ++column) {
      const std::size_t bins = data_.bins(column);
      if (bins == 1) continue;
      histogram_.assign(bins * width, 0.0F);
      const auto bin_of = data_.column(column);
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t row = rows_[i];
        add(row, histogram_.data() + bin_of[row] * width);
      }
      scan(column, whole, best);
    }
    return best;
  }

  void add(std::size_t row, float* sums) const {
    const float* values = gradients_.values.data() + row * gradients_.width;
    for (std::size_t k = 0; k < gradients_.width; ++k) sums[k] += values[k];
  }

  /// Tries the column's edges; a tie keeps the earlier column and the lower edge.
  void scan(std::size_t column, double whole, Split& best) {
    const std::size_t width = gradients_.width;
    left_.assign(width, 0.0F);
    right_.resize(width);
    for (std::size_t bin = 1; bin < data_.bins(column); ++bin) {
      const float* added = histogram_.data() + (bin - 1) * width;
      if (!(added[width - 1] > 0.0F)) continue;  // the same two sides as before
      for (std::size_t k = 0; k < width; ++k) {
        left_[k] += added[k];
        right_[k] = total_[k] - left_[k];
      }
      if (static_cast<double>(left_.back()) < shape_.min_leaf) continue;
      if (static_cast<double>(right_.back()) < shape_.min_leaf) return;
      const double gain = purity(left_) + purity(right_) - whole;
      // Below this it is rounding: a difference of sums of floats.
      if (gain > best.gain && gain > 1e-6 * whole) best = {column, bin, gain};
    }
  }

  const BinnedRows& data_;
  const RowGradients gradients_;
  std::vector<std::size_t> rows_;  // those of a node lie side by side
  const GradientTreeShape shape_;
  std::vector<float> total_, left_, right_, histogram_;
};

}  // namespace

TreeNodes grow_tree(const BinnedRows& data, const RowGradients& gradients,
                    std::vector<std::size_t> rows, const GradientTreeShape& shape) {
  return Grower(data, gradients, std::move(rows), shape).grow();
}

}  // namespace tare
