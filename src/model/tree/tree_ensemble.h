// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/tree/float_columns.h"
#include "tare/model/regressor.h"

namespace tare {

/// A node of a regression tree. A row goes left when its value is below `value`, as floats.
struct TreeNode {
  std::int32_t feature = -1;  // -1: a leaf
  float value = 0.0F;         // the threshold, or what the leaf predicts
  std::int32_t left = 0;      // places in the array of nodes; 0 for a leaf
  std::int32_t right = 0;
};

/// Trees one after the other in one array: tree t has the nodes root[t], ..., root[t + 1] - 1 (the
/// last tree those to the end), and children come after their parent.
struct TreeNodes {
  std::vector<TreeNode> node;
  std::vector<std::int32_t> root;

  /// Adds the trees of another array. Throws kInvalidArgument when int32 cannot count the nodes.
  void append(const TreeNodes& other);
};

/// Where the rows of a tree end: the node of row i in ends[i * step]. `rows` row-major with `cols`
/// columns, as many as there are ends.
void find_tree_ends(const TreeNodes& trees, std::int32_t root, std::span<const float> rows,
                    std::size_t cols, std::span<std::int32_t> ends, std::size_t step = 1);

/// A tree of at most two splits to a leaf. Where one is missing both ways lead to the same.
struct SmallTree {
  std::array<std::size_t, 3> feature{};  // of the root and of its children
  std::array<float, 3> threshold{};
  std::array<float, 4> leaf{};
};

/// From the sum over the trees to the user's units: mean + scale * (base + sum).
struct TreeOutput {
  double mean = 0.0;
  double scale = 1.0;
  double base = 0.0;
};

/// A sum of regression trees; what a forest and boosting are once trained. Knows nothing of
/// XGBoost, but decides as it does.
class TreeEnsemble final : public Regressor {
 public:
  /// The nodes must be as TreeNodes says; load_trees checks it, the trainer produces it.
  TreeEnsemble(TreeNodes trees, FloatColumns columns, TreeOutput output);

  std::size_t features() const override { return columns_.shift.size(); }
  std::size_t trees() const noexcept { return trees_.root.size(); }
  const TreeNodes& nodes() const noexcept { return trees_; }
  /// Adds in double and in the order of the trees.
  void predict(MatrixView x, std::span<double> out, const Execution& how) const override;
  /// out[i * trees() + t]: the node in which row i ends in tree t. Equal numbers, same leaf.
  void leaves(MatrixView x, std::span<std::int32_t> out, const Execution& how) const;
  void save(const TensorWriter& out) const override;

 private:
  void add_trees(MatrixView x, std::span<double> sums) const;
  void add_small_trees(MatrixView x, std::span<double> sums) const;

  TreeNodes trees_;
  std::vector<SmallTree> small_;  // all of them, or none where one is larger
  FloatColumns columns_;
  TreeOutput output_;
};

/// kCorruptFile unless every walk ends at a leaf of its own tree and every number is finite.
std::unique_ptr<Regressor> load_trees(const TensorReader& in);

}  // namespace tare
