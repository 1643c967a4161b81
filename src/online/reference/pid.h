// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// Quantile tracking with an integrator of past misses.
const OnlineMethodInfo& pid_method();

}  // namespace tare
