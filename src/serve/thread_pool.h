// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "serve/monitor/log.h"

namespace tare::serve {

/// Runs the handlers of `context` until it has none or is stopped. What a handler throws, which is
/// a lack of memory, ends that handler and nothing else.
void run_handlers(boost::asio::io_context& context, Log& log) noexcept;

/// Starts `count` threads that run `work`, or as many as the system gives. Throws kIo where it
/// gives fewer than `least`.
std::vector<std::jthread> start_threads(std::size_t count, std::size_t least,
                                        const std::function<void()>& work);

/// Threads for handlers that are posted to context(). asio::thread_pool would end the program when
/// a handler throws, and would wait forever where the system does not start all of its threads.
class ThreadPool {
 public:
  /// Throws kIo where the system starts no thread.
  ThreadPool(std::size_t count, Log& log);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }
  /// Handlers that have not begun will not.
  void stop() noexcept { context_.stop(); }
  /// Waits until every handler has run, or the present ones if the pool was stopped.
  void join();

 private:
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_;
  std::vector<std::jthread> threads_;
};

}  // namespace tare::serve
