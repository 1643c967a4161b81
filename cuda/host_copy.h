// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

namespace tare_cuda {

/// Copies by several threads: one alone is slower than the device.
inline void copy_by_threads(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{8} << 20;
  const std::size_t threads = std::clamp<std::size_t>(
      bytes / kPart, 1, std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8));
  const std::size_t part = (bytes + threads - 1) / threads;
  const auto copy = [&](std::size_t first) {
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                std::min(part, bytes - first));
  };
  std::vector<std::thread> others;
  for (std::size_t first = part; first < bytes; first += part) others.emplace_back(copy, first);
  copy(0);
  for (std::thread& other : others) other.join();
}

}  // namespace tare_cuda
