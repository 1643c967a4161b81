// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <string_view>

#include "tare/base/device.h"
#include "tare/base/export.h"

namespace TARE_PUBLIC tare {

/// Thrown by work that Execution::stop ended.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

/// How a computation may run. It never changes a quantile, but for the device: one from a GPU is
/// within 1e-5 of its level.
struct Execution {
  std::size_t threads = 0;  // 0: as many as there are cores
  bool diagnostics =
      true;  // false: Prediction::nearest and outside may stay empty, which saves a search
  /// Called repeatedly, from the calling thread or a worker but never from two at once, with the
  /// name of the stage and the share of it that is done, in [0, 1]. May throw to stop the work.
  std::function<void(std::string_view stage, double share)> progress;
  /// When it becomes true, loops over rows and models throw Stopped before their next part; null:
  /// never. Another thread may set it.
  const std::atomic<bool>* stop = nullptr;
  Device device = {};
};

}  // namespace tare
