// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/calibrate/quantile_model.h"

namespace tare {

/// effective_n of the first of these rows, so that with the `known` ones before there are no more
/// than 2,000: a median needs no more, and each asks all fits behind the bands. Empty for a model
/// without bands.
std::vector<double> effective_sizes(const QuantileModel& model, const Rows& rows, std::size_t known,
                                    const Execution& how);

}  // namespace tare
