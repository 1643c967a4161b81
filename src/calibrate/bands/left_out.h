// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibrate/bands/local_error.h"
#include "tare/base/execution.h"
#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// The predictions of a fit on some rows for the rows that it left out.
struct LeftOut {
  std::vector<std::size_t> rows;
  std::vector<double> level;  // of each row's target, by the fit
  std::vector<double> below;  // the weight of targets below the quantile at each of curve_levels()
  double weight = 0.0;        // of all of them
};

/// Evaluates a fit on `rows` of `input`, ascending, on at most 2,000 of the other rows.
LeftOut ask_left_out(const QuantileModel& fit, const FitInput& input,
                     std::span<const std::size_t> rows, Seed seed, const Execution& how);

/// The shares of left-out targets below the quantiles at curve_levels(): ascending, at most 1.
std::vector<double> mean_shares(std::span<const LeftOut> of_fits);

/// The error that depends on the features, by the levels of all left-out targets.
LocalError find_local_error(const FitInput& input, std::span<const LeftOut> of_fits, Seed seed,
                            const Execution& how);

/// The features of the trees for some rows: x, and the given predictions.
Matrix columns_for_trees(const Rows& rows);

}  // namespace tare
