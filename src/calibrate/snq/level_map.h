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

/// The map under which rows left out lie below the answer of level tau in a share tau of cases,
/// from 2 % to 98 %, as nearly as its three numbers allow.
///
/// Expected ranks are right where the rows of a window have the query's distribution. In a wide
/// window they do not: residuals that differ from place to place make it spread more than one place
/// does, and intervals too wide. In a window of near copies of one row they do not either: these
/// err alike, and intervals are too narrow. Rows left out say by how much on average. At most 2,000
/// are left out, and of more than 10,000 rows fewer, down to 200.
LevelMap leave_one_out_map(const LocalSample& sample, const SnqOptions& options, Seed seed,
                           const Execution& how);

}  // namespace tare
