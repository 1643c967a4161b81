// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "data/schema.h"

namespace tare {

/// The columns of quantiles that FitOptions::prediction_quantiles names, by ascending level. Each
/// item is NAME=LEVEL, a name, or a pattern with * and ?, which passes over the columns `taken`.
/// The level of a name or pattern is the one number inside (0, 1), written with a point, that the
/// column's name holds. Throws kNotFound where nothing matches, kInvalidArgument, with the column
/// and the remedy, where a level cannot be told or comes twice, or with fewer than two.
std::vector<QuantileColumn> find_quantile_columns(const std::vector<std::string>& items,
                                                  const std::string& source,
                                                  const std::vector<std::string>& header,
                                                  const std::vector<std::string>& taken);

}  // namespace tare
