// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace tare {

// The loops over all elements of a step of PairAscent (kernel_quantile.cpp), for vectors. Each has
// the same result on every machine.

/// The first element with the largest `rest` of those with `a` below `high`; their number if there
/// is none.
std::size_t largest_with_room(std::span<const double> rest, std::span<const double> a,
                              std::span<const double> high);

/// The first element with the largest gain, the square of the slope rest[up] - rest[j] over the
/// curvature diagonal[up] + diagonal[j] - 2 row[j], of those with a positive slope and `a` above
/// `low`; their number if there is none.
std::size_t steepest_partner(std::size_t up, std::span<const double> rest,
                             std::span<const double> a, std::span<const double> low,
                             std::span<const double> diagonal, std::span<const double> row);

/// What curvatures are at least.
inline constexpr double kLeastCurvature = 1e-12;

/// rest -= by * (row - other).
void subtract_difference(std::span<double> rest, double by, std::span<const double> row,
                         std::span<const double> other);

/// The sum of the products, in eight partial sums.
double sum_of_products(std::span<const double> a, std::span<const double> b);

}  // namespace tare
