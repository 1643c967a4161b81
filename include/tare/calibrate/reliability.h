// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/quantile_model.h"

namespace TARE_PUBLIC tare {

/// predict with the reliability of each answer: bands of the quantiles, effective_n, and the levels
/// that a guarantee keeps (Prediction::band_low, band_high, effective_n, delivered).
///
/// Bands and effective_n exist for a model that was fitted with bands=on, or with bands=auto and
/// few enough rows, unless many targets share a value that the method's quantiles never take.
/// Otherwise they are empty. A band is designed to contain the true quantile in 90 % of rows. It
/// includes the sampling error of all fitted parts, estimated by fits on halves of the rows. It
/// also includes the bias on left-out rows: its mean, and the part that trees predict from the
/// features. `tare reproduce bands` measures how often a band contains the true quantile.
Prediction predict_with_reliability(const QuantileModel& model, const Rows& rows,
                                    std::span<const Level> levels, const Execution& how = {});

}  // namespace tare
