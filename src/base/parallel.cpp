// SPDX-License-Identifier: BSD-3-Clause
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tare {

std::size_t thread_count(const Execution& how) {
  if (how.threads > 0) return how.threads;
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void parallel_for(const Execution& how, std::size_t count,
                  const std::function<void(std::size_t)>& body) {
  const auto run = [&](std::size_t i) {
    if (how.stop != nullptr && how.stop->load(std::memory_order_relaxed)) throw Stopped{};
    body(i);
  };
  const std::size_t threads = std::min(thread_count(how), count);
  if (threads <= 1) {
    for (std::size_t i = 0; i < count; ++i) run(i);
    return;
  }

  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex guard;
  std::exception_ptr first_error;
  std::size_t first_index = count;
  const auto work = [&] {
    while (!failed.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      try {
        run(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (i < first_index) {
          first_index = i;
          first_error = std::current_exception();
        }
        failed.store(true, std::memory_order_relaxed);
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    // Where the system starts no more threads, or has no memory for one, those that run do the
    // work.
    try {
      for (std::size_t t = 1; t < threads; ++t) workers.emplace_back(work);
    } catch (const std::exception&) {
    }
    work();
  }
  if (first_error) std::rethrow_exception(first_error);
}

void parallel_blocks(const Execution& how, std::size_t rows, std::size_t block,
                     const std::function<void(std::size_t first, std::size_t last)>& body) {
  const std::size_t blocks = (rows + block - 1) / block;
  parallel_for(how, blocks,
               [&](std::size_t b) { body(b * block, std::min(rows, (b + 1) * block)); });
}

}  // namespace tare
