// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "calibrate/guarantee/guarantee_split.h"
#include "calibrate/guarantee/ranks/guarantee_ranks.h"

namespace tare {

/// The place of a level by ranks that leave the model's own level alone where the held-out rows do
/// not speak against it.
///
/// A rank among n rows has a sampling error: the coverage of its place differs from the level by
/// sqrt(tau (1 - tau) / n) from one draw of the rows to the next, although it is right on average.
/// A well calibrated model has less error than that. So from 0.5 on the answer is the model's own
/// level, but at least the place of the rank that keeps tau, and at most that of a rank which is
/// kOwnSlack standard errors higher; below 0.5 the mirror image.
///
/// Proven as for GuaranteeRanks::place, since the place is never inside of that one: P(y <= Q) >=
/// tau from 0.5 on, and P(y < Q) <= tau below. Without ties each side covers at most kOwnSlack
/// standard errors and one rank more than its level, as far as the rows have such a rank; beyond,
/// nothing limits the model's own level outwards. Places never decrease with the level.
///
/// Where targets have masses the own place is a knot, the next one outwards, so that quantiles of
/// counts stay counts.
///
/// A level that no bound keeps has the place of the outermost one that is kept (OwnTail::from).
///
/// With SplitLevels::kNear the model's own level may also be inside of the rank's, down to the
/// place of the level that misses kNearErrors standard errors of a share of the rows more, but at
/// most twice as much (nearer_level). That one is what is proven (own_delivered). Held-out rows
/// then change only the answers of models that they speak against, from either side.
inline constexpr double kOwnSlack = 1.0;
inline constexpr double kNearErrors = 1.0;
CurvePlace own_or_ranked_place(const GuaranteeRanks& ranks, std::span<const Level> knots,
                               SplitLevels levels, Level level);

/// What that place keeps where rows count alike: P(y <= Q) is at least this from 0.5 on, and P(y <
/// Q) at most this below.
double own_delivered(const GuaranteeRanks& ranks, SplitLevels levels, Level level);

}  // namespace tare
