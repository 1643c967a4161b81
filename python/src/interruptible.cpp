// SPDX-License-Identifier: BSD-3-Clause
#include "interruptible.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace nb = nanobind;

namespace tare::python {
namespace {

using namespace std::chrono_literals;

/// What the two threads tell each other.
class ProgressChannel {
 public:
  /// From the work.
  void report(std::string_view stage, double share) {
    if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    const std::lock_guard lock(guard_);
    stage_ = stage;
    share_ = share;
    fresh_ = true;
  }
  void finish() {
    {
      const std::lock_guard lock(guard_);
      done_ = true;
    }
    changed_.notify_all();
  }

  /// From the caller: true when the work is over, false after a moment in which it was not.
  bool wait() {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, 50ms, [&] { return done_; });
  }
  std::optional<std::pair<std::string, double>> news() {
    const std::lock_guard lock(guard_);
    if (!fresh_) return std::nullopt;
    fresh_ = false;
    return std::pair(stage_, share_);
  }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  const std::atomic<bool>* stop_flag() const { return &stop_; }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::atomic<bool> stop_{false};
  bool done_ = false;
  bool fresh_ = false;
  std::string stage_;
  double share_ = 0.0;
};

/// Signals and the callback, which may raise.
void deliver_progress(ProgressChannel& channel, const nb::object& progress) {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (progress.is_none()) return;
  if (const auto news = channel.news()) progress(news->first, news->second);
}

}  // namespace

void run_interruptible(std::size_t threads, const nb::object& progress,
                       const std::function<void(const Execution&)>& work, Device device) {
  ProgressChannel channel;
  std::exception_ptr failure;
  std::exception_ptr interruption;
  {
    const nb::gil_scoped_release unlocked;
    std::jthread worker([&] {
      try {
        Execution how;
        how.threads = threads;
        how.device = device;
        how.stop = channel.stop_flag();
        how.progress = [&](std::string_view stage, double share) { channel.report(stage, share); };
        work(how);
      } catch (...) {
        failure = std::current_exception();
      }
      channel.finish();
    });
    while (!channel.wait()) {
      if (interruption) continue;
      try {
        deliver_progress(channel, progress);
      } catch (...) {
        interruption = std::current_exception();
        channel.stop();
      }
    }
  }
  if (interruption) std::rethrow_exception(interruption);
  if (failure) std::rethrow_exception(failure);
}

void run_rows(std::size_t rows, std::size_t threads,
              const std::function<void(const Execution&)>& work, Device device) {
  constexpr std::size_t kInterruptibleRows = 256;
  if (rows >= kInterruptibleRows) return run_interruptible(threads, nb::none(), work, device);
  const nb::gil_scoped_release unlocked;
  Execution how;
  how.threads = rows == 1 ? 1 : threads;  // to count the cores takes longer than a row
  how.device = device;
  work(how);
}

}  // namespace tare::python
