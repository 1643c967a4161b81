// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tare {

/// A row found by an index: its place (its index in the order of residuals) in the upper half, its
/// number in the index's own order in the lower half. Sorting keys sorts by place, and the lower
/// half gives the position of the row's values.
using RowKey = std::uint64_t;

inline constexpr RowKey row_key(std::uint32_t place, std::uint32_t row) {
  return (static_cast<RowKey>(place) << 32) | row;
}
inline constexpr std::uint32_t key_place(RowKey key) {
  return static_cast<std::uint32_t>(key >> 32);
}
inline constexpr std::uint32_t key_row(RowKey key) { return static_cast<std::uint32_t>(key); }

/// Keys in memory that is kept from query to query and never cleared.
class KeyList {
 public:
  std::size_t size() const noexcept { return size_; }
  void clear() noexcept { size_ = 0; }
  std::span<const RowKey> keys() const noexcept { return {storage_.data(), size_}; }
  /// Room for `count` keys after those that are there; grow() then says how many were written.
  RowKey* room(std::size_t count) {
    if (storage_.size() < size_ + count) storage_.resize(2 * (size_ + count));
    return storage_.data() + size_;
  }
  void grow(std::size_t count) noexcept { size_ += count; }
  RowKey operator[](std::size_t i) const { return storage_[i]; }
  void swap(KeyList& other) noexcept {
    storage_.swap(other.storage_);
    std::swap(size_, other.size_);
  }

 private:
  std::vector<RowKey> storage_;
  std::size_t size_ = 0;
};

/// Sorts keys by place, for places below `places`. Digits of 11 bits, the lowest first: two passes
/// for up to four million rows, about a fifth of the time of a sort by comparison at 10,000 keys.
/// Equal places keep their order. `spare` is working memory, reused from call to call.
void sort_by_place(KeyList& keys, std::size_t places, KeyList& spare);

}  // namespace tare
