// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/tree/binned_rows.h"
#include "model/tree/tree_ensemble.h"

namespace tare {

/// For each row one gradient for each of several outputs, and the row's weight as the last of
/// `width` numbers. A row of no weight has zeros only.
struct RowGradients {
  std::span<const float> values;  // row-major
  std::size_t width = 0;          // outputs + 1
};

struct GradientTreeShape {
  std::size_t depth = 4;   // splits from the root to a leaf, at most
  double min_leaf = 20.0;  // weight that a leaf must hold
};

/// Grows one tree for all outputs together: each split is the one that lowers the sum over outputs
/// of the squared error of a constant gradient in each leaf the most. So an output whose own
/// gradients carry little information is split where the others find a difference. Of equal splits
/// the one of the first column and the lowest edge is taken. `rows` are those that count. Leaves
/// predict 0.
TreeNodes grow_tree(const BinnedRows& data, const RowGradients& gradients,
                    std::vector<std::size_t> rows, const GradientTreeShape& shape);

}  // namespace tare
