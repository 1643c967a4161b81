// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tare::serve {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

constexpr Deadline no_deadline() { return Deadline::max(); }

}  // namespace tare::serve
