// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "evaluate/examination.h"
#include "report/html/page.h"
#include "tare/evaluate/scorecard.h"

namespace tare {

// The pictures about all rows together. Each says in words what it shows and what to do about it,
// and has its numbers as a table.

/// `guaranteed`: the model has a finite-sample guarantee already.
Card reliability_card(const ReliabilityCurve& curve, bool guaranteed);
Card pit_card(const Scores& scores);

}  // namespace tare
