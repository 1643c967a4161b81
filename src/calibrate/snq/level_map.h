// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "calibrate/snq/window/local_sample.h"
#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// The levels at which a window is asked in place of `levels`, in the same order.
std::vector<Level> mapped_levels(std::span<const Level> levels, const LevelMap& map);

/// The map for which a share tau of left-out rows lies below the answer of level tau, from 2 % to
/// 98 %, as closely as its three parameters permit.
///
/// Expected ranks are correct if the rows of a window have the query's distribution. In a wide
/// window they do not: a mixture of different residual distributions has a larger spread, and
/// intervals are too wide. In a window of near copies of one row they do not either: their
/// residuals are similar, and intervals are too narrow. Left-out rows show the mean effect. At most
/// 2,000 rows are left out; with more than 10,000 rows fewer, down to 200.
LevelMap leave_one_out_map(const LocalSample& sample, const SnqOptions& options, Seed seed,
                           const Execution& how);

}  // namespace tare
