// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "tare/version.h"

namespace tare {

inline constexpr std::string_view kVersion = TARE_VERSION;

}  // namespace tare
