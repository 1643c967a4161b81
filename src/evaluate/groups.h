// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tare/base/rng.h"

namespace tare {

constexpr std::uint64_t kAgceGroups = 10;

/// A tenth of the rows, rounded half up, at least one.
inline std::size_t agce_group_size(std::size_t rows) {
  return std::max<std::size_t>(1, rows / 10 + (rows % 10 >= 5 ? 1 : 0));
}

/// The largest of error(group) over the groups of AGCE. Metric and floor share this function, so
/// that the floor is that of exactly this drawing. Group k depends on rows, seed and k alone. rows
/// > 0.
///
/// `error` takes a span of row numbers, in random order, and returns a number that is not negative.
template <class Error>
double worst_group(std::size_t rows, Seed seed, const Error& error) {
  const std::size_t size = agce_group_size(rows);
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> swapped_with(size);
  double worst = 0.0;
  for (std::uint64_t k = 0; k < kAgceGroups; ++k) {
    Rng rng(split(seed, k));
    for (std::size_t i = 0; i < size; ++i) {
      swapped_with[i] = i + static_cast<std::size_t>(rng.below(rows - i));
      std::swap(order[i], order[swapped_with[i]]);
    }
    worst = std::max(worst, error(std::span<const std::size_t>(order.data(), size)));
    // Undoing the swaps makes the next group independent of this one, at the cost of a group, not
    // of all rows.
    for (std::size_t i = size; i-- > 0;) std::swap(order[i], order[swapped_with[i]]);
  }
  return worst;
}

}  // namespace tare
