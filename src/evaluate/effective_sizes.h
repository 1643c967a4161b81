// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/calibrate/quantile_model.h"

namespace tare {

/// effective_n of the first of these rows, until 2,000 are known, counting the `known` ones before:
/// enough for a median, and each row needs a prediction of every fit behind the bands. Empty for a
/// model without bands.
std::vector<double> effective_sizes(const QuantileModel& model, const Rows& rows, std::size_t known,
                                    const Execution& how);

}  // namespace tare
