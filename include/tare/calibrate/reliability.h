// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/quantile_model.h"

namespace TARE_PUBLIC tare {

/// predict, and how far each answer can be trusted: bands around the quantiles, effective_n, and
/// the levels that a guarantee keeps (Prediction::band_low, band_high, effective_n, delivered).
///
/// Bands and effective_n are there for a model that was fitted with bands=on, or with bands=auto
/// and few enough rows, unless many targets share a value that the method's quantiles never take;
/// else they are empty. A band is meant to hold the true quantile in 90 % of
/// rows. It has the sampling error of everything that was fitted, by fits on halves of the rows,
/// and the bias that left-out rows show, on average and where trees can tell it from the features;
/// `tare reproduce bands` measures how often it holds.
Prediction predict_with_reliability(const QuantileModel& model, const Rows& rows,
                                    std::span<const Level> levels, const Execution& how = {});

}  // namespace tare
