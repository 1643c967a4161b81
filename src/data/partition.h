// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tare/base/rng.h"

namespace tare {

/// Rows for two uses, each ascending; together they are all rows.
struct Partition {
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
};

/// At most `most` of the rows, ascending: the last ones where rows are windows of more than one
/// step in time order, otherwise some at random.
std::vector<std::size_t> limit_rows(std::size_t rows, std::size_t most, std::size_t window,
                                    Seed seed);
/// A random share of the rows (rounded, at least one of each where there are two) goes into
/// `second`.
Partition random_partition(std::size_t rows, double share, Seed seed);
/// The last rows go into `second`: the past trains, the future calibrates.
Partition time_partition(std::size_t rows, double share);
/// Rows whose flag is set go into `second`: a split by a column's value.
Partition flagged_partition(std::span<const unsigned char> flag);
/// The fold of each row, 0 to folds - 1; sizes differ by at most one.
std::vector<std::size_t> random_folds(std::size_t rows, std::size_t folds, Seed seed);
/// Folds of successive rows, for rows in time order: the first rows are fold 0, and so on.
std::vector<std::size_t> time_folds(std::size_t rows, std::size_t folds);
/// All rows of a fold in `second`, the others in `first`; where rows are windows of `window` steps
/// in time order, without those that share a step with a row of the fold.
Partition fold_partition(std::span<const std::size_t> fold_of_row, std::size_t fold,
                         std::size_t window = 1);
/// The rows outside a fold, ascending, without those that are at most `gap` places from one of its
/// rows.
std::vector<std::size_t> rows_outside(std::span<const std::uint32_t> fold_of_row, std::size_t fold,
                                      std::size_t gap);
/// Rows in time order for two uses: about `share` of them in `second`, as up to four stretches at
/// places that `rng` decides, and the others in `first` without those at most `gap` places from a
/// stretch. A stretch is at least five gaps long, so that there are fewer where rows are few.
Partition stretch_partition(std::size_t rows, double share, std::size_t gap, Rng& rng);

}  // namespace tare
