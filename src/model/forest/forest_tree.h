// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "model/forest/sorted_columns.h"
#include "model/tree/tree_ensemble.h"
#include "tare/base/rng.h"

namespace tare {

struct ForestTreeShape {
  std::size_t min_leaf = 5;  // rows that a leaf must hold
  std::size_t tried = 1;     // columns that each split is chosen from
};

/// Grows one tree of a random forest (Breiman 2001): each split is the one among all values of some
/// random columns that lowers the weighted squared error the most, until no node of enough rows and
/// more than one target is left; at most 64 splits lead to a leaf. Columns are drawn until
/// `tried` of them have two values in the node and one of those can be split. Of equal splits the
/// one that was tried first is taken. A threshold lies halfway between two values. Leaves predict
/// 0.
///
/// Rows of weight 0 are not there; at least one row must be. The rows stay sorted by every column
/// from the root to the leaves, so that no node sorts: O(rows * columns) for each level of the
/// tree.
TreeNodes grow_forest_tree(const SortedColumns& data, std::span<const float> y,
                           std::span<const float> weight, const ForestTreeShape& shape, Rng rng);

}  // namespace tare
