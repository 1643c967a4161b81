// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/calibrate/prediction.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// How sure a band is of the true quantile: each end misses it with at most half of the rest.
inline constexpr double kBandConfidence = 0.9;

/// predict, and how far each answer can be trusted: bands around the quantiles and the levels that
/// a guarantee keeps (Prediction::band_low, band_high, delivered).
///
/// The band of level tau takes k = effective_n of a row, rounded down (above 10,000 to three
/// digits), for the number of independent draws behind its answer. Of k draws the l-th smallest is
/// above the quantile, and the u-th below it, with at most 5 % each; l and u come from the binomial
/// law. The band lies between the model's own quantiles at the levels of these ranks,
/// (l - 1/2) / k and (u - 1/2) / k, which for k equal weights are exactly these draws. An end is
/// infinite where no rank is sure enough: of level 0.05 below 59 rows the low one, of 0.5 below 5.
/// Levels are rounded outwards to those asked for and a fixed grid: steps of 0.005, of 0.001 up to
/// 0.02 from either end, and five towards 0.000001. The model is asked for all of them at once; for
/// one row ends never cross, and the quantile lies between them.
///
/// It is the sampling error of the rows in the window: not the bias of a window that is too wide,
/// nor the error of a point model trained on few rows. Empty for a method without effective_n.
Prediction predict_with_reliability(const QuantileModel& model, const Rows& rows,
                                    std::span<const Level> levels, const Execution& how = {});

}  // namespace tare
