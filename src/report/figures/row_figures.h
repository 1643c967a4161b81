// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "evaluate/examination.h"
#include "report/html/page.h"

namespace tare {

// The pictures about rows one by one.

/// Some rows with their intervals over the predicted median; `target` names the axis.
Card intervals_card(const Outcomes& outcomes, const std::string& target);
/// Only for models with bands.
Card effective_n_card(const Outcomes& outcomes);

/// At most this many rows are drawn, evenly over the predicted medians.
inline constexpr std::size_t kDrawnRows = 160;

}  // namespace tare
