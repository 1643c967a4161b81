// SPDX-License-Identifier: BSD-3-Clause
#include "model/tree/tree_ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "base/parallel.h"
#include "io/tensor_store.h"
#include "math/vector_targets.h"
#include "model/input/fit_input.h"

namespace tare {
namespace {

// Rows walked through one tree before the next tree: their floats and the tree stay in the cache.
constexpr std::size_t kRowsAtOnce = 256;
constexpr std::size_t kMaxNodes = std::numeric_limits<std::int32_t>::max();

void check_nodes(const TreeNodes& trees, std::size_t features) {
  const std::size_t total = trees.node.size();
  for (std::size_t t = 0; t < trees.root.size(); ++t) {
    const bool last = t + 1 == trees.root.size();
    const auto first = static_cast<std::int64_t>(trees.root[t]);
    const auto end = last ? static_cast<std::int64_t>(total) : std::int64_t{trees.root[t + 1]};
    if (first < 0 || (t == 0 && first != 0) || first >= end ||
        end > static_cast<std::int64_t>(total)) {
      fail(ErrorCode::kCorruptFile, "the model file's tree {} covers nodes {} to {} of {}", t,
           first, end, total);
    }
    for (std::int64_t k = first; k < end; ++k) {
      const TreeNode& node = trees.node[static_cast<std::size_t>(k)];
      const bool leaf = node.feature == -1;
      const auto inside = [&](std::int32_t child) { return child > k && child < end; };
      const bool feature_ok =
          leaf || (node.feature >= 0 && static_cast<std::size_t>(node.feature) < features);
      if (!feature_ok || !std::isfinite(node.value) ||
          (!leaf && !(inside(node.left) && inside(node.right)))) {
        fail(ErrorCode::kCorruptFile, "the model file's tree {} is damaged at node {}", t, k);
      }
    }
  }
  if (trees.root.empty() && total > 0) {
    fail(ErrorCode::kCorruptFile, "the model file has {} nodes that belong to no tree", total);
  }
}

/// What a small tree says about each row, added to its sum.
TARE_VECTOR_TARGETS void add_small_tree(const std::array<const float*, 3>& column,
                                        const SmallTree& tree, std::span<double> sums) {
  const auto [root, left, right] = column;
  const auto [at_root, at_left, at_right] = tree.threshold;
  const auto [a, b, c, d] = tree.leaf;
  double* out = sums.data();
  const std::size_t rows = sums.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const float below = left[i] < at_left ? a : b;
    const float above = right[i] < at_right ? c : d;
    out[i] += static_cast<double>(root[i] < at_root ? below : above);
  }
}

}  // namespace

void TreeNodes::append(const TreeNodes& other) {
  if (node.size() + other.node.size() > kMaxNodes) {
    fail(ErrorCode::kInvalidArgument,
         "the trees have more than {} nodes; use fewer or smaller trees", kMaxNodes);
  }
  const auto offset = static_cast<std::int32_t>(node.size());
  for (const std::int32_t first : other.root) root.push_back(first + offset);
  for (TreeNode added : other.node) {
    if (added.feature >= 0) {
      added.left += offset;
      added.right += offset;
    }
    node.push_back(added);
  }
}

void find_tree_ends(const TreeNodes& trees, std::int32_t root, std::span<const float> rows,
                    std::size_t cols, std::span<std::int32_t> ends, std::size_t step) {
  // Several rows go down at once, because a step waits for memory, and without a branch, because
  // the way is unpredictable; a conditional expression would become one. Rows that have arrived
  // stay where they are.
  constexpr std::size_t kAbreast = 8;
  const TreeNode* nodes = trees.node.data();
  const std::size_t count = (ends.size() + step - 1) / step;
  for (std::size_t first = 0; first < count; first += kAbreast) {
    const std::size_t width = std::min(kAbreast, count - first);
    std::array<std::int32_t, kAbreast> at{};
    std::array<const float*, kAbreast> row{};
    for (std::size_t k = 0; k < kAbreast; ++k) {
      at[k] = root;
      row[k] = rows.data() + (first + std::min(k, width - 1)) * cols;
    }
    bool moved = cols > 0;
    while (moved) {
      moved = false;
      for (std::size_t k = 0; k < kAbreast; ++k) {
        const TreeNode& node = nodes[at[k]];
        const std::int32_t inner = ~(node.feature >> 31);  // all bits, or none in a leaf
        const std::int32_t left =
            -static_cast<std::int32_t>(row[k][node.feature & inner] < node.value);
        const std::int32_t next = (node.left & left) | (node.right & ~left);
        at[k] = (next & inner) | (at[k] & ~inner);
        moved |= inner != 0;
      }
    }
    for (std::size_t k = 0; k < width; ++k) ends[(first + k) * step] = at[k];
  }
}

TreeEnsemble::TreeEnsemble(TreeNodes trees, FloatColumns columns, TreeOutput output)
    : trees_(std::move(trees)), columns_(std::move(columns)), output_(output) {
  const auto node = [&](std::int32_t at) -> const TreeNode& {
    return trees_.node[static_cast<std::size_t>(at)];
  };
  const auto child = [&](std::int32_t at, bool right) {  // a leaf stays where it is
    if (node(at).feature < 0) return at;
    return right ? node(at).right : node(at).left;
  };
  for (const std::int32_t root : trees_.root) {
    SmallTree small{};
    for (std::size_t k = 0; k < 3; ++k) {
      const TreeNode& split = node(k == 0 ? root : child(root, k == 2));
      if (split.feature < 0) continue;
      small.feature[k] = static_cast<std::size_t>(split.feature);
      small.threshold[k] = split.value;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const TreeNode& end = node(child(child(root, k >= 2), k % 2 == 1));
      if (end.feature >= 0) {
        small_.clear();
        return;
      }
      small.leaf[k] = end.value;
    }
    small_.push_back(small);
  }
}

/// Column by column, so that many rows go down a tree at once, all to the same depth.
void TreeEnsemble::add_small_trees(MatrixView x, std::span<double> sums) const {
  const std::size_t rows = x.rows();
  std::vector<float> values(rows * x.cols());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < x.cols(); ++j) {
      values[j * rows + i] = static_cast<float>((x(i, j) - columns_.shift[j]) * columns_.scale[j]);
    }
  }
  for (const SmallTree& tree : small_) {
    const auto column = [&](std::size_t k) { return values.data() + tree.feature[k] * rows; };
    add_small_tree({column(0), column(1), column(2)}, tree, sums);
  }
}

void TreeEnsemble::add_trees(MatrixView x, std::span<double> sums) const {
  const std::vector<float> rows = columns_.convert_all(x);
  std::vector<std::int32_t> ends(sums.size());
  for (const std::int32_t root : trees_.root) {
    find_tree_ends(trees_, root, rows, x.cols(), ends);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += static_cast<double>(trees_.node[static_cast<std::size_t>(ends[i])].value);
    }
  }
}

void TreeEnsemble::predict(MatrixView x, std::span<double> out, const Execution& how) const {
  check_query("trees", features(), x, out);

  const bool small = small_.size() == trees_.root.size() && x.cols() > 0;
  parallel_blocks(how, x.rows(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    const MatrixView part = x.middle_rows(first, last - first);
    const std::span<double> sums = out.subspan(first, last - first);
    std::ranges::fill(sums, output_.base);
    if (small) {
      add_small_trees(part, sums);
    } else {
      add_trees(part, sums);
    }
    for (double& sum : sums) sum = output_.mean + output_.scale * sum;
  });
}

void TreeEnsemble::leaves(MatrixView x, std::span<std::int32_t> out, const Execution& how) const {
  if (x.cols() != features() || out.size() != x.rows() * trees()) {
    fail(ErrorCode::kShapeMismatch, "leaves: {} x {} rows and columns and {} places for {} trees",
         x.rows(), x.cols(), out.size(), trees());
  }

  parallel_blocks(how, x.rows(), kRowsAtOnce, [&](std::size_t first, std::size_t last) {
    const std::vector<float> rows = columns_.convert_all(x.middle_rows(first, last - first));
    for (std::size_t t = 0; t < trees(); ++t) {
      find_tree_ends(trees_, trees_.root[t], rows, x.cols(),
                     out.subspan(first * trees() + t, (last - first - 1) * trees() + 1), trees());
    }
  });
}

void TreeEnsemble::save(const TensorWriter& out) const {
  std::vector<std::int32_t> feature, left, right;
  std::vector<float> value;
  for (const TreeNode& node : trees_.node) {
    feature.push_back(node.feature);
    value.push_back(node.value);
    left.push_back(node.left);
    right.push_back(node.right);
  }
  out.value("features", features());
  out.value("mean", output_.mean);
  out.value("scale", output_.scale);
  out.value("base", output_.base);
  out.tensor("column_shift", columns_.shift);
  out.tensor("column_scale", columns_.scale);
  out.tensor("root", trees_.root);
  out.tensor("feature", feature);
  out.tensor("value", value);
  out.tensor("left", left);
  out.tensor("right", right);
}

std::unique_ptr<Regressor> load_trees(const TensorReader& in) {
  const std::size_t features = in.count("features", kMaxFeatures);
  FloatColumns columns{in.values<double>("column_shift", {features}, Must::kBeFinite),
                       in.values<double>("column_scale", {features}, Must::kBeFinite)};

  TreeNodes trees;
  trees.root = in.list<std::int32_t>("root");
  const Shape shape = {in.length("feature")};
  if (shape[0] > kMaxNodes) {
    fail(ErrorCode::kCorruptFile, "the model file has {} nodes of trees", shape[0]);
  }
  const auto feature = in.tensor<std::int32_t>("feature", shape);
  const auto value = in.tensor<float>("value", shape);
  const auto left = in.tensor<std::int32_t>("left", shape);
  const auto right = in.tensor<std::int32_t>("right", shape);
  for (std::size_t k = 0; k < shape[0]; ++k) {
    trees.node.push_back({feature[k], value[k], left[k], right[k]});
  }
  check_nodes(trees, features);
  const TreeOutput output{in.get<double>("mean"), in.get<double>("scale"), in.get<double>("base")};
  return std::make_unique<TreeEnsemble>(std::move(trees), std::move(columns), output);
}

}  // namespace tare
