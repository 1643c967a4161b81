// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <functional>

#include "tare/base/execution.h"

namespace tare::python {

/// Runs `work` on a thread of its own, without the interpreter's lock. The calling thread waits,
/// hears Ctrl-C, and tells `progress` (None, or a callable with stage and share) how far it is.
/// Where either raises, the work is told to stop at its next report, and the exception goes on from
/// here once it has: nothing is running behind the caller's back then.
void run_interruptible(std::size_t threads, const nanobind::object& progress,
                       const std::function<void(const Execution&)>& work, Device device = {});

/// Runs `work` for so many rows without the interpreter's lock; Ctrl-C ends it where there are
/// many. A thread of its own for few would take longer than their predictions.
void run_rows(std::size_t rows, std::size_t threads,
              const std::function<void(const Execution&)>& work, Device device = {});

}  // namespace tare::python
