// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "peers/data.h"
#include "tare/base/level.h"

namespace tare::peers {

// How one would get local quantiles without tare: find the window's rows with a good library, take
// their residuals, and pick order statistics.

/// Fills `residuals` with those of the rows within `radius` of the query, in any order.
using WindowSearch = std::function<void(std::span<const double> query, double radius,
                                        std::vector<double>& residuals)>;
/// Replaces the order of `residuals`; out[j] is the quantile at levels[j], ascending. Needs one
/// row.
using Pick = void (*)(std::vector<double>& residuals, std::span<const Level> levels,
                      std::span<double> out);

/// nanoflann's tree with the number of features known to the compiler; `data` must outlive it.
/// Throws kInvalidArgument for a number of features that is not compiled in.
WindowSearch nanoflann_windows(const Data& data, std::size_t leaf_rows);

/// In one dimension: rows sorted along the line, the window's ends by bisection.
WindowSearch sorted_line_windows(const Data& data);

void pick_by_sorting(std::vector<double>& residuals, std::span<const Level> levels,
                     std::span<double> out);
/// Each order statistic by std::nth_element on what lies right of the one before.
void pick_by_nth_element(std::vector<double>& residuals, std::span<const Level> levels,
                         std::span<double> out);

}  // namespace tare::peers
