// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "peers/comparison.h"

namespace tare::peers {

/// Microseconds per query with 1 and 2 threads as the number of rows grows tenfold, up to
/// settings.rows where that is given.
std::vector<nlohmann::json> growth_in_rows(const Settings& settings);
/// The same as the number of features doubles.
std::vector<nlohmann::json> growth_in_features(const Settings& settings);
/// A whole job on every core: wall time from the features to the last quantile, and the memory that
/// the process ever held, its own data and answers included.
nlohmann::json whole_job(const Settings& settings);

}  // namespace tare::peers
