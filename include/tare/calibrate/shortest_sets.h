// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/level.h"
#include "tare/base/matrix.h"
#include "tare/calibrate/quantile_model.h"

namespace TARE_PUBLIC tare {

/// The most parts of a shortest set, and the numbers that describe one.
inline constexpr std::size_t kMostSetParts = 2;
inline constexpr std::size_t kSetColumns = 2 * kMostSetParts;

/// For each row and coverage a set of highest density of the row's distribution: one interval, or
/// two where its density has a clear valley. For a larger coverage it contains the ones before. The
/// density is smoothed, so that a row with rough quantiles may have a set that is longer than its
/// central interval.
///
/// With the split form of a guarantee the sets are those whose place among the row's nested sets
/// has the rank of the held-out rows: for rows that are exchangeable with these, P(y in the set) is
/// at least the coverage, over draws of the held-out rows and the new one; with groups within each
/// group that has its own ranks. Nothing is guaranteed for a single x. Otherwise, also with the
/// cross form and for files of versions before these ranks, the set has the coverage under the
/// row's predicted distribution, and ShortestSets::guaranteed is false.
///
/// An end is infinite if the row's quantiles are, or if the ranked rows are too few for the
/// coverage of a guarantee that ends in ",strict". Without "strict", a set beyond the ranks is at
/// least the largest ranked one and has the coverage under the row's predicted distribution.
struct ShortestSets {
  Matrix ends;  // (i, 4 k): low, high, low2, high2 of row i and coverages[k]; NaN: no such part
  Matrix delivered;  // (i, k): the coverage that the ranks keep; no columns where it is not known
  bool guaranteed = false;
  std::size_t rows_beyond = 0;  // for which the ranked rows are too few
};
ShortestSets shortest_sets(const QuantileModel& model, const Rows& rows,
                           std::span<const Level> coverages, const Execution& how = {});

}  // namespace tare
