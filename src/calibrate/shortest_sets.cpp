// SPDX-License-Identifier: BSD-3-Clause
#include "tare/calibrate/shortest_sets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "calibrate/answers/row_blocks.h"
#include "calibrate/answers/set_columns.h"

namespace tare {

ShortestSets shortest_sets(const QuantileModel& model, const Rows& rows,
                           std::span<const Level> coverages, const Execution& how) {
  model.check_shapes(rows);
  ShortestSets sets;
  if (model.ranked_sets(rows, coverages, how, sets)) {
    sets.guaranteed = true;
    return sets;
  }
  std::vector<SetPlace> places;
  for (const Level& coverage : coverages) places.push_back(nominal_place(coverage));
  const auto quantiles = [&](const Rows& some) {
    return model.predict(some, set_levels(), how).quantiles;
  };
  sets.ends = fill_sets(rows, coverages.size(), quantiles, how,
                        [&](std::size_t, std::size_t k) { return places[k]; });
  return sets;
}

}  // namespace tare
