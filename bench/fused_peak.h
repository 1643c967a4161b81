// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tare {

/// Fused multiply-adds in single precision that wait for nothing but themselves: the most that a
/// core can do. Returns how many there were.
double fused_operations(std::size_t rounds);

}  // namespace tare
