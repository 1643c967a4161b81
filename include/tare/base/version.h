// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "tare/base/export.h"
#include "tare/base/version_macros.h"

namespace TARE_PUBLIC tare {

inline constexpr std::string_view kVersion = TARE_VERSION;

}  // namespace tare
