// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/guarantee/guarantee_merge.h"
#include "io/tensor_store.h"

namespace tare {

/// Writes lines of ranks, each of as many folds as the others.
void save_ranks(const TensorWriter& out, std::span<const FoldRanks> lines);
/// Whether a file's scores are places on curves; else they are the whole knots of an earlier
/// version.
bool are_places_on_curves(const TensorReader& in);
/// At least one line, from either kind of scores. Throws kCorruptFile.
std::vector<FoldRanks> load_ranks(const TensorReader& in, std::size_t folds, std::size_t knots);

}  // namespace tare
