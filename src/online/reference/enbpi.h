// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// The narrowest interval of recent errors that has its share of them.
const OnlineMethodInfo& enbpi_method();

}  // namespace tare
