// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tare {

/// Limits what the program allocates by operator new for as long as it lives: an allocation that
/// would bring all of them together above `bytes` more than at its start throws std::bad_alloc. One
/// at a time.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// The most that was allocated at once since the start, beyond what was there.
  std::size_t peak() const;

 private:
  std::size_t start_;
};

}  // namespace tare
