// SPDX-License-Identifier: BSD-3-Clause
#include "index/row_key.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tare {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::size_t kFewKeys = 128;  // below, clearing the counters costs more than comparing

}  // namespace

void sort_by_place(KeyList& keys, std::size_t places, KeyList& spare) {
  const std::size_t count = keys.size();
  keys.clear();
  RowKey* from = keys.room(count);
  keys.grow(count);
  if (count < kFewKeys) {
    std::stable_sort(from, from + count,
                     [](RowKey a, RowKey b) { return key_place(a) < key_place(b); });
    return;
  }
  spare.clear();
  RowKey* to = spare.room(count);
  spare.grow(count);
  const int passes = (static_cast<int>(std::bit_width(places)) + kDigitBits - 1) / kDigitBits;
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = 32 + pass * kDigitBits;
    const auto digit = [&](RowKey key) { return (key >> shift) & (kDigits - 1); };
    std::array<std::uint32_t, kDigits> start{};
    for (std::size_t i = 0; i < count; ++i) ++start[digit(from[i])];
    std::uint32_t next = 0;
    for (std::uint32_t& at : start) {
      const std::uint32_t here = at;
      at = next;
      next += here;
    }
    for (std::size_t i = 0; i < count; ++i) to[start[digit(from[i])]++] = from[i];
    std::swap(from, to);
    keys.swap(spare);
  }
}

}  // namespace tare
