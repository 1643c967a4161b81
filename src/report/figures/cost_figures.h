// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "evaluate/cost_comparison.h"
#include "report/html/page.h"

namespace tare {

/// Realised costs of the rows' best actions, of the mean, and of the mean plus a constant.
Card cost_card(const CostComparison& worth);

}  // namespace tare
