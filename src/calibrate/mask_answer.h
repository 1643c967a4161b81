// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "calibrate/local_sample.h"
#include "tare/base/execution.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// SNQ's answers for naive windows with equal weights, where no structure helps: every row is
/// tested, a block of rows for many queries while it is in the cache, and all that is kept of a
/// query is a bit per row. Fills `result`, but for the nearest rows. Levels ascend.
void answer_by_masks(const LocalSample& sample, MatrixView z, std::span<const Level> levels,
                     const SnqOptions& options, const Execution& how, Prediction& result);

}  // namespace tare
