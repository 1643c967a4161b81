// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tare {

/// Memory that starts on a cache line, so that no vector of the widest kind touches two.
template <class T>
struct CacheAligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) noexcept {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, kLine); }

  template <class U>
  friend bool operator==(const CacheAligned&, const CacheAligned<U>&) noexcept {
    return true;
  }
};

template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

}  // namespace tare
