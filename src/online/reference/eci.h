// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// Quantile tracking with feedback on how far the score was from the threshold.
const OnlineMethodInfo& eci_method();

}  // namespace tare
