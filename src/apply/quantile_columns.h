// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "data/schema.h"

namespace tare {

/// The columns of quantiles that FitOptions::prediction_quantiles names, by ascending level. Each
/// item is NAME=LEVEL, a name, or a pattern with * and ?, which skips the columns `taken`. The
/// level of a column is the only number inside (0, 1), written with a decimal point, in its name.
/// Throws kNotFound if nothing matches. Throws kInvalidArgument, with the column and the remedy, if
/// a level is not clear or occurs twice, or if there are fewer than two.
std::vector<QuantileColumn> find_quantile_columns(const std::vector<std::string>& items,
                                                  const std::string& source,
                                                  const std::vector<std::string>& header,
                                                  const std::vector<std::string>& taken);

}  // namespace tare
