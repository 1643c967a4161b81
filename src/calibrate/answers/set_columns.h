// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "base/parallel.h"
#include "calibrate/answers/row_blocks.h"
#include "math/sets/shortest_set.h"
#include "tare/calibrate/shortest_sets.h"

namespace tare {

static_assert(kMostSetParts == kMostRowSetParts);

/// The numbers of ShortestSets::ends for one set.
inline void write_set(const RowSet& set, std::span<double> out) {
  for (std::size_t p = 0; p < kMostSetParts; ++p) {
    const bool there = p < set.parts;
    out[2 * p] = there ? set.part[p].low : std::numeric_limits<double>::quiet_NaN();
    out[2 * p + 1] = there ? set.part[p].high : std::numeric_limits<double>::quiet_NaN();
  }
}

/// ShortestSets::ends, block by block: `quantiles(rows)` are those of some rows at set_levels(),
/// and `place(i, k)` is the place of row i and coverage k.
template <class Quantiles, class Place>
Matrix fill_sets(const Rows& rows, std::size_t coverages, const Quantiles& quantiles,
                 const Execution& how, const Place& place) {
  constexpr std::size_t kBlockRows = 1'024;  // whose quantiles are in memory at once: 2 MB
  constexpr std::size_t kRowsOfThread = 16;
  const std::size_t all = rows.x.rows();
  Matrix ends(all, kSetColumns * coverages);
  for (std::size_t first = 0; first < all; first += kBlockRows) {
    const std::size_t count = std::min(kBlockRows, all - first);
    const Matrix own = quantiles(middle_of(rows, first, count));
    parallel_blocks(how, count, kRowsOfThread, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const ShortestFamily family(own.view().row(i));
        const std::span<double> out = ends.row(first + i);
        for (std::size_t k = 0; k < coverages; ++k) {
          write_set(family.at(place(first + i, k)), out.subspan(kSetColumns * k, kSetColumns));
        }
      }
    });
  }
  return ends;
}

}  // namespace tare
