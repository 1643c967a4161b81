// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/evaluate/target_jumps.h"

namespace tare {

// What every metric demands of its inputs (see metrics.h). `where` names the metric in the error.

/// At least one row, as many rows of q as targets, no NaN, finite targets.
void check_rows(std::string_view where, std::span<const double> y, MatrixView q);

/// The columns of q are the levels, and there is at least one.
void check_levels(std::string_view where, MatrixView q, std::span<const Level> levels);

/// Equal lengths, at least one row, no NaN, lower < +infinity, upper > -infinity.
void check_interval(std::string_view where, std::span<const double> lower,
                    std::span<const double> upper);

/// One jump for each target.
void check_jumps(std::string_view where, std::span<const double> y,
                 std::span<const TargetJump> jumps);

void check_targets(std::string_view where, std::span<const double> y, std::size_t rows);
void check_not_nan(std::string_view where, MatrixView q);

}  // namespace tare
