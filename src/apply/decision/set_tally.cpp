// SPDX-License-Identifier: BSD-3-Clause
#include "apply/decision/set_tally.h"

#include <fmt/format.h>

namespace tare {

void SetTally::add(const ShortestSets& sets) {
  const std::size_t rows = sets.ends.rows();
  rows_ += rows;
  beyond_ += sets.rows_beyond;
  if (has_guarantee_ && !sets.guaranteed) without_ += rows;
}

std::vector<Notice> SetTally::notices() const {
  std::vector<Notice> all;
  if (without_ > 0) {
    all.push_back(
        {"set_without_guarantee", without_,
         "the model's guarantee does not hold for shortest sets: it was made by folds, its form "
         "is loose, or it comes from a version without them. The sets have their coverage under "
         "the model's own "
         "distributions. Fit again with guarantee=split for sets with a guarantee."});
  }
  if (beyond_ > 0) {
    all.push_back({"beyond_kept_levels", beyond_,
                   fmt::format("{} of {} rows have a shortest set whose coverage is more than the "
                               "held-out rows can keep. It holds the largest set that they keep.",
                               beyond_, rows_)});
  }
  return all;
}

}  // namespace tare
