// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace tare {

/// The number of leading elements for which `is_before` holds, as std::partition_point, but without
/// a branch on its answer: where a new number belongs in a sorted list is what a processor cannot
/// foretell, and each wrong guess takes as long as ten steps.
template <class T, class IsBefore>
std::size_t sorted_place(std::span<const T> sorted, const IsBefore& is_before) {
  std::size_t first = 0;
  std::size_t left = sorted.size();
  while (left > 1) {
    const std::size_t half = left / 2;
    first += half * static_cast<std::size_t>(is_before(sorted[first + half - 1]));
    left -= half;
  }
  return first + (left == 1 ? static_cast<std::size_t>(is_before(sorted[first])) : 0);
}

}  // namespace tare
