// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/guarantee_merge.h"
#include "io/tensor_store.h"

namespace tare {

/// Writes lines of ranks, each of as many folds as the others and of `knots` knots.
void save_ranks(const TensorWriter& out, std::span<const FoldRanks> lines, std::size_t knots);
/// At least one line. Throws kCorruptFile.
std::vector<FoldRanks> load_ranks(const TensorReader& in, std::size_t folds, std::size_t knots);

}  // namespace tare
