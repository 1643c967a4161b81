// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace tare {

/// The non-decreasing sequence closest to `values` in weighted squared distance, by pooling
/// adjacent violators: stretches of values that fall are replaced by their weighted mean. A
/// sequence that does not decrease comes back as it is, to the bit. `weights` is empty (all equal)
/// or of the same length and positive; values are finite. O(n).
std::vector<double> isotonic_regression(std::span<const double> values,
                                        std::span<const double> weights = {});

}  // namespace tare
