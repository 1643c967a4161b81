// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tare/calibrate/methods.h"

namespace tare {

/// Seconds from a text such as "30", "30s", "2m" or "1.5h". Throws kInvalidArgument.
double parse_time_limit(std::string_view text);

/// A fit with a budget of `auto`, and with bands and a guarantee as asked for.
using FitWithBudget = std::function<std::unique_ptr<QuantileModel>(
    const FitInput& input, std::string_view budget, const Execution& how)>;

/// Fits with the budgets quick, default and best, one after the other, and returns the last model
/// that was done when `seconds` were over. The model is therefore the same as with that budget.
///
/// If even the first could take too long, a fit on some thousand rows comes before it. The fit that
/// comes first is never stopped, so that there is a model: it can exceed the limit.
std::unique_ptr<QuantileModel> fit_in_time(const FitInput& input, double seconds,
                                           const FitWithBudget& fit, const Execution& how);

}  // namespace tare
