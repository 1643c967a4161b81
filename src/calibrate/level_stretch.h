// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "calibrate/local_sample.h"
#include "tare/base/execution.h"
#include "tare/base/level.h"
#include "tare/base/rng.h"
#include "tare/calibrate/snq.h"

namespace tare {

/// Levels farther from 1/2 for a stretch above 1, nearer for one below: Phi(stretch Phi^-1(tau)).
std::vector<Level> stretched_levels(std::span<const Level> levels, double stretch);

/// The stretch with which central intervals from 50 % to 98 % cover, on average over them, as
/// many of the rows left out as they should; from 1/2 to 2.
///
/// Expected ranks are right where the rows of a window have the query's distribution. In a wide
/// window they do not: residuals that differ from place to place make it spread more than one place
/// does, and intervals too wide. In a window of near copies of one row they do not either: these
/// err alike, and intervals are too narrow. Rows left out say by how much on average. At most 1,000
/// are left out, and of more than 20,000 rows fewer, down to 200.
double leave_one_out_stretch(const LocalSample& sample, const SnqOptions& options, Seed seed,
                             const Execution& how);

}  // namespace tare
