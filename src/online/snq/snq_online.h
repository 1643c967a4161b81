// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "online/online_method.h"

namespace tare {

/// tare's own online method: SNQ on trailing rows.
///
/// 1. The error that past errors, columns and the season predict is subtracted (Recentering).
/// 2. What is left is weighed locally (LocalRows, Members): its quantiles among rows whose
///    surroundings were similar.
/// 3. Answers are moved so that each keeps its level in the long run (CoverageKeeper).
OnlineMethodInfo snq_online_method();

}  // namespace tare
