// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "calibrate/snq/window/local_sample.h"
#include "tare/base/execution.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// The loss of each bandwidth (column) when each of the rows `places` in turn is predicted from all
/// others, row by row in double precision. `block` is empty, or has the block 0, 1, ... of each
/// place: then a row is predicted from earlier blocks alone.
Matrix exact_leave_one_out_losses(const LocalSample& sample, std::span<const std::size_t> block,
                                  const SnqOptions& options, std::span<const double> bandwidths,
                                  std::span<const std::size_t> places, const Execution& how);

}  // namespace tare
