// SPDX-License-Identifier: BSD-3-Clause
#include "memory_limit.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> held_bytes{0};
std::atomic<std::size_t> peak_bytes{0};
std::atomic<std::size_t> most_bytes{kNoLimit};

void* counted(void* memory) {
  const std::size_t size = ::malloc_usable_size(memory);
  const std::size_t now = held_bytes.fetch_add(size) + size;
  std::size_t peak = peak_bytes.load();
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void check_limit(std::size_t size) {
  const std::size_t held = held_bytes.load();
  const std::size_t most = most_bytes.load();
  if (most != kNoLimit && (held > most || size > most - held)) throw std::bad_alloc();
}

void* allocate(std::size_t size) {
  check_limit(size);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return counted(memory);
}

void* allocate(std::size_t size, std::align_val_t alignment) {
  check_limit(size);
  void* memory = nullptr;
  if (::posix_memalign(&memory, static_cast<std::size_t>(alignment), size == 0 ? 1 : size) != 0) {
    throw std::bad_alloc();
  }
  return counted(memory);
}

void* allocate_or_null(std::size_t size) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  held_bytes.fetch_sub(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// All forms: the sanitizers would serve those that are left out, and what they allocate must not
// come here to be freed.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, alignment);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace tare {

MemoryLimit::MemoryLimit(std::size_t bytes) : start_(held_bytes.load()) {
  peak_bytes.store(start_);
  most_bytes.store(start_ + bytes);
}
MemoryLimit::~MemoryLimit() { most_bytes.store(kNoLimit); }
std::size_t MemoryLimit::peak() const { return peak_bytes.load() - start_; }

}  // namespace tare
