// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// Quantile tracking: the threshold itself is moved after each row.
const OnlineMethodInfo& tracker_method();

}  // namespace tare
