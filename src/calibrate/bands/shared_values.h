// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tare/base/execution.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// Whether `model`, a fit on `input`, has quantiles at the values that more than a tenth of the
/// targets share, at least half as often as targets are there; true where no value is shared so.
///
/// A smooth method passes such values by. The true quantile is then at the value for many levels
/// and the answer for none, which no error of the method's own fits could tell.
bool takes_shared_values(const QuantileModel& model, const FitInput& input, const Execution& how);

}  // namespace tare
