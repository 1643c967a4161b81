// SPDX-License-Identifier: BSD-3-Clause
#include "base/watched_work.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>

namespace tare {
namespace {

/// What the two threads tell each other.
class ProgressChannel {
 public:
  /// From the work.
  void report(std::string_view stage, double share) {
    if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    const std::lock_guard lock(guard_);
    news_.stage = stage;
    news_.share = share;
    news_.fresh = true;
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
    constexpr std::chrono::milliseconds kMoment(50);
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, kMoment, [&] { return done_; });
  }
  WorkNews news() {
    const std::lock_guard lock(guard_);
    WorkNews result = news_;
    news_.fresh = false;
    return result;
  }
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  const std::atomic<bool>* stop_flag() const { return &stop_; }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::atomic<bool> stop_{false};
  bool done_ = false;
  WorkNews news_;
};

}  // namespace

void run_watched(Execution how, const std::function<void(const Execution&)>& work,
                 const std::function<void(const WorkNews&)>& look) {
  ProgressChannel channel;
  std::exception_ptr failure;
  std::exception_ptr interruption;
  how.stop = channel.stop_flag();
  how.progress = [&](std::string_view stage, double share) { channel.report(stage, share); };
  {
    std::jthread worker([&] {
      try {
        work(how);
      } catch (...) {
        failure = std::current_exception();
      }
      channel.finish();
    });
    while (!channel.wait()) {
      if (interruption) continue;
      try {
        look(channel.news());
      } catch (...) {
        interruption = std::current_exception();
        channel.stop();
      }
    }
  }
  if (interruption) std::rethrow_exception(interruption);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tare
