// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tare/calibrate/prediction.h"

namespace tare {

/// Adds what one of several models says about the reliability of its answers to `all`, which starts
/// empty; `share` is the model's share of the answer, and the shares of all models add up to 1.
///
/// A row is as badly supported as it is for the model that knows least about it:
/// - `nearest` is the largest of the models' distances to their nearest calibration row. It then
///   agrees with `outside`: where no model's distance exceeds its radius, the merged one does not.
/// - `fallback` and `outside` are 1 where they are for any of the models.
/// - `window_n` is the mean by shares.
/// Models that measure no distances leave `nearest` and `outside` as they are. Quantiles are left
/// to the caller.
void merge_diagnostics(Prediction& all, const Prediction& one, double share);

}  // namespace tare
