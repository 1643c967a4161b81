// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "tare/calibrate/prediction.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// `count` rows from `first` on, for work that goes block by block.
inline Rows middle_of(const Rows& rows, std::size_t first, std::size_t count) {
  Rows some{.x = rows.x.middle_rows(first, count)};
  if (rows.given.cols() > 0) some.given = rows.given.middle_rows(first, count);
  if (!rows.group.empty()) some.group = rows.group.subspan(first, count);
  return some;
}

/// Puts what is known about the answers of a block behind that of the blocks before; quantiles are
/// left to the caller.
inline void append_diagnostics(Prediction& all, const Prediction& block) {
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(all.window_n, block.window_n);
  append(all.nearest, block.nearest);
  append(all.fallback, block.fallback);
  append(all.outside, block.outside);
}

}  // namespace tare
