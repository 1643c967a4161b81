// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "serve/monitor/log.h"

namespace tare::serve {

/// Threads that run the handlers of an io_context until stop(). What a handler throws, which is a
/// lack of memory, is logged and ends that handler only.
class ContextThreads {
 public:
  /// Both must outlive it. `after_failure` is called after a handler threw, also where asio itself
  /// had no memory to call one and has lost it.
  ContextThreads(boost::asio::io_context& context, Log& log,
                 std::function<void()> after_failure = {});
  /// Stops the context and waits for its handlers.
  ~ContextThreads();
  ContextThreads(const ContextThreads&) = delete;
  ContextThreads& operator=(const ContextThreads&) = delete;

  /// Throws kIo if the system refuses one of them.
  void start(std::size_t count);
  /// Does the work of a thread on this one, until stop().
  void run();
  /// Handlers that have not begun are dropped.
  void stop();
  /// Whether all threads ended in this time after stop().
  bool wait(std::chrono::milliseconds time);

 private:
  boost::asio::io_context& context_;
  Log& log_;
  std::function<void()> after_failure_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::atomic<std::size_t> running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace tare::serve
