// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tare {

/// The `count` directions in which rows vary most, as columns of a cols x count matrix, row-major.
/// `x` is row-major with `cols` columns of mean 0 and at least one row; count <= cols. The first
/// element of each direction that is not tiny is positive, so that they do not depend on chance.
std::vector<float> principal_axes(std::span<const float> x, std::size_t cols, std::size_t count);

}  // namespace tare
