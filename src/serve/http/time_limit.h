// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "serve/http/deadline.h"

namespace tare::serve {

/// Ends the work on a request: at a time, or when another thread says so. For one thread.
class TimeLimit {
 public:
  TimeLimit() = default;  // never ends it
  explicit TimeLimit(Deadline end, const std::atomic<bool>* stop = nullptr)
      : end_(end), stop_(stop) {}

  /// Throws Refusal 503 if the work must end.
  void check() const;
  /// For inner loops: looks at the clock at every 1,024th call.
  void check_sometimes() {
    if ((++calls_ & 1'023U) == 0) check();
  }
  const std::atomic<bool>* stop() const noexcept { return stop_; }

 private:
  Deadline end_ = no_deadline();
  const std::atomic<bool>* stop_ = nullptr;
  std::uint32_t calls_ = 0;
};

}  // namespace tare::serve
