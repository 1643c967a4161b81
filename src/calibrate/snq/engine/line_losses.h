// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "calibrate/snq/window/local_sample.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// Whether line_losses can take the place of exact_leave_one_out_losses: one feature, equal
/// weights, and windows.
bool line_losses_serve(const LocalSample& sample, const SnqOptions& options);

/// exact_leave_one_out_losses for rows in no order, with the same results, by windows that move
/// along the line: some microseconds for a row and a bandwidth.
Matrix line_losses(const LocalSample& sample, const SnqOptions& options,
                   std::span<const double> bandwidths, std::span<const std::size_t> places,
                   const Execution& how);

}  // namespace tare
