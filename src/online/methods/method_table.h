// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

#include "online/online_method.h"

namespace tare {

/// Every online method, in the order of the documentation.
std::span<const OnlineMethodInfo> online_methods();

/// By name; kNotFound with the known names.
const OnlineMethodInfo& find_online_method(std::string_view name);

}  // namespace tare
