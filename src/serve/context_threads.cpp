// SPDX-License-Identifier: BSD-3-Clause
#include "serve/context_threads.h"

#include <exception>
#include <utility>

#include "base/fail.h"

namespace tare::serve {

ContextThreads::ContextThreads(boost::asio::io_context& context, Log& log,
                               std::function<void()> after_failure)
    : context_(context),
      log_(log),
      after_failure_(std::move(after_failure)),
      work_(context.get_executor()) {}

ContextThreads::~ContextThreads() {
  stop();
  for (std::thread& thread : threads_) thread.join();
}

void ContextThreads::start(std::size_t count) {
  threads_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ++running_;
    try {
      threads_.emplace_back([this] {
        run();
        --running_;
      });
    } catch (const std::exception& error) {  // system_error or bad_alloc
      --running_;
      fail(
          ErrorCode::kIo,
          {.remedies = {use("threads", "1", "or another small number"),
                        advice("raise the limits of processes and memory (ulimit -u, ulimit -v)")}},
          "cannot start a thread: {}", error.what());
    }
  }
}

void ContextThreads::run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::exception& error) {
      log_.write_made(
          [&] { return LogLine("error", "connection_failed").text("reason", error.what()); });
      if (after_failure_) after_failure_();
    }
  }
}

void ContextThreads::stop() { context_.stop(); }

bool ContextThreads::wait(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kLook{5};
  const auto end = std::chrono::steady_clock::now() + time;
  while (running_ > 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace tare::serve
