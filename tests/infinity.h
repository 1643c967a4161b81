// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

namespace tare {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace tare
