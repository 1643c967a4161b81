// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tare {

/// The feature along which the rows `order` lie farthest apart, seen on some of them. `columns`
/// holds columns of `rows` values.
std::size_t widest_feature(std::span<const double> columns, std::size_t rows,
                           std::span<const std::uint32_t> order);

/// An order in which the first `box_rows` rows lie in a small box, and so do the next, and so on:
/// rows are halved along their widest feature. Only the last box may have fewer. Fewer than 2^32
/// rows, all finite.
std::vector<std::uint32_t> box_order(std::span<const double> columns, std::size_t rows,
                                     std::size_t box_rows);

}  // namespace tare
