// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tare {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace tare
