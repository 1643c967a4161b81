// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "online/snq/kernel_sums.h"

namespace tare {

/// A cumulative weight of a window. The target is above 0.
struct Sought {
  std::size_t window = 0;
  double target = 0.0;
};

/// Where it is reached: at a row, by a share of the row's weight that is not negative. A share
/// above 1 is due to rounding. A larger target is not reached earlier.
struct Reached {
  std::size_t row = 0;
  double share = 0.0;
};

/// Several searches at once, as each step of a search waits for the one before it.
inline constexpr std::size_t kSearchesAtOnce = 64;
/// For kSearchesAtOnce at most.
void find_rows(const KernelRows& rows, const KernelSums& sums, std::span<const Sought> sought,
               std::span<Reached> reached);

/// The weight of a row in a window.
float window_weight(const KernelRows& rows, const KernelSums& sums, std::size_t window,
                    std::size_t row);

}  // namespace tare
