// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// Adaptive conformal inference with several step sizes, weighed by their recent loss.
const OnlineMethodInfo& dtaci_method();

}  // namespace tare
