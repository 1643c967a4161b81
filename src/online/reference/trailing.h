// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// Quantiles of recent errors.
const OnlineMethodInfo& trailing_method();

}  // namespace tare
