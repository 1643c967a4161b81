// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace tare_cuda {

/// Calls work(0), ..., work(count - 1), by several threads.
template <class Work>
void by_threads(std::size_t count, const Work& work) {
  const std::size_t threads = std::clamp<std::size_t>(
      count, 1, std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8));
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t k = 1; k < threads; ++k) others.emplace_back(run);
  } catch (const std::system_error&) {  // no more threads can be started: fewer do the work
  }
  run();
  for (std::thread& other : others) other.join();
}

/// One thread alone copies more slowly than the device.
inline void copy_by_threads(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{4} << 20;
  by_threads((bytes + kPart - 1) / kPart, [&](std::size_t part) {
    const std::size_t first = part * kPart;
    std::memcpy(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                std::min(kPart, bytes - first));
  });
}

}  // namespace tare_cuda
