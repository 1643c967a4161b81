// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// Adaptive conformal inference: the level of a conformal quantile is moved after each row.
const OnlineMethodInfo& aci_method();

}  // namespace tare
