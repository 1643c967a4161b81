// SPDX-License-Identifier: BSD-3-Clause
#include "model/forest/sorted_columns.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "base/parallel.h"

namespace tare {
namespace {

/// Whole numbers in the order of floats; -0 and 0 are one value.
std::uint32_t ordered_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value == 0.0F ? 0.0F : value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

}  // namespace

SortedColumns::SortedColumns(std::span<const float> x, std::size_t cols, const Execution& how)
    : rows_(x.size() / cols), cols_(cols), values_(x.size()), order_(x.size()) {
  assert(rows_ * cols == x.size() && "x does not fill its rows");
  parallel_for(how, cols, [&](std::size_t j) {
    // Value and row in one number: sorting these is several times faster than sorting rows by
    // value.
    std::vector<std::uint64_t> keys(rows_);
    for (std::size_t i = 0; i < rows_; ++i) {
      const float value = x[i * cols + j];
      values_[j * rows_ + i] = value;
      keys[i] = std::uint64_t{ordered_bits(value)} << 32U | i;
    }
    std::ranges::sort(keys);
    for (std::size_t k = 0; k < rows_; ++k) {
      order_[j * rows_ + k] = static_cast<std::uint32_t>(keys[k]);
    }
  });
}

}  // namespace tare
