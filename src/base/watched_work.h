// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "tare/base/execution.h"

namespace tare {

/// How far work is that another thread does.
struct WorkNews {
  std::string stage;
  double share = 0.0;  // of the stage
  bool fresh = false;  // reported since the last look
};

/// Runs `work` on a thread of its own, with the settings of `how`. The calling thread waits and
/// calls `look` about 20 times a second. If `look` throws, the work is told to stop at its next
/// report, `look` is not called again, and its exception goes on from here once the work is over,
/// even if the work had succeeded by then: nothing runs behind the caller's back.
void run_watched(Execution how, const std::function<void(const Execution&)>& work,
                 const std::function<void(const WorkNews&)>& look);

}  // namespace tare
