// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "evaluate/examination.h"
#include "report/page.h"
#include "tare/evaluate/scorecard.h"

namespace tare {

// The pictures about all rows together. Each says in words what it shows and what to do about it,
// and has its numbers as a table.

/// `guaranteed`: the model has a finite-sample guarantee already.
Card reliability_card(const ReliabilityCurve& curve, bool guaranteed);
Card pit_card(const Scores& scores);
/// Some rows with their intervals over the predicted median; `target` names the axis.
Card intervals_card(const Outcomes& outcomes, const std::string& target);
/// Only where the method has a neighbourhood.
Card effective_n_card(const Outcomes& outcomes);

/// At most this many rows are drawn, evenly over the predicted medians.
inline constexpr std::size_t kDrawnRows = 160;

}  // namespace tare
