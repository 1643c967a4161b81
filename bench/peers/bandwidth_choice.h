// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "peers/comparison.h"

namespace tare::peers {

/// tare::choose_bandwidth against one leave-one-out sweep with nanoflann for each bandwidth of its
/// path. A sweep is timed on some rows and scaled to as many as tare left out. The two losses at
/// the chosen bandwidth must agree within the sampling error of the peer's; throws Error otherwise.
nlohmann::json compare_bandwidth_choice(const Settings& settings);

}  // namespace tare::peers
