// SPDX-License-Identifier: BSD-3-Clause
#include "serve/thread_pool.h"

#include <exception>

#include "base/fail.h"

namespace tare::serve {

namespace asio = boost::asio;

void run_handlers(asio::io_context& context, Log& log) noexcept {
  for (;;) {
    try {
      context.run();
      return;
    } catch (const std::exception& error) {
      log.write_made(
          [&] { return LogLine("error", "handler_failed").text("reason", error.what()); });
    }
  }
}

std::vector<std::jthread> start_threads(std::size_t count, std::size_t least,
                                        const std::function<void()>& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    for (std::size_t t = 0; t < count; ++t) threads.emplace_back(work);
  } catch (const std::exception& error) {
    if (threads.size() >= least) return threads;
    fail(ErrorCode::kIo, "the system does not start a thread ({})", error.what());
  }
  return threads;
}

ThreadPool::ThreadPool(std::size_t count, Log& log)
    : open_(context_.get_executor()),
      threads_(start_threads(count, 1, [this, &log] { run_handlers(context_, log); })) {}

ThreadPool::~ThreadPool() {
  stop();
  join();
}

void ThreadPool::join() {
  open_.reset();
  threads_.clear();
}

}  // namespace tare::serve
