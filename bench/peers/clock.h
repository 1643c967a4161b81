// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <ctime>

namespace tare::peers {

enum class TimeKind {
  kWall,
  kProcessor,  // of the whole process: for one thread on a machine that others use too
};

/// Seconds since it was made.
class Clock {
 public:
  explicit Clock(TimeKind kind = TimeKind::kWall) : kind_(kind), start_(now()) {}
  double seconds() const { return now() - start_; }

 private:
  double now() const {
    if (kind_ == TimeKind::kProcessor) {
      timespec spent{};
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
      return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
    }
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }

  TimeKind kind_;
  double start_;
};

}  // namespace tare::peers
