// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tare/base/matrix.h"

namespace tare {

/// The given rows of x, and of those the given columns; no columns means all.
Matrix take_rows(MatrixView x, std::span<const std::size_t> rows,
                 std::span<const std::size_t> columns = {});
/// The given entries; none where there are no values at all, as with weights that were not given.
std::vector<double> take_rows(std::span<const double> values, std::span<const std::size_t> rows);
/// 0, 1, ..., count - 1.
std::vector<std::size_t> all_rows(std::size_t count);

}  // namespace tare
