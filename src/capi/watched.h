// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "tare/base/execution.h"

namespace tare::capi {

/// Runs `work`. If this thread has a watcher (tare_watch), the work is done by another thread and
/// the watcher is called in this one; it may end the work, which then throws Stopped.
void watched(std::size_t threads, const std::function<void(const Execution&)>& work);

}  // namespace tare::capi
