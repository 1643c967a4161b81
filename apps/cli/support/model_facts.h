// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "calibrate/bounds/bounds.h"
#include "io/tensor_store.h"
#include "report/pages/model_report.h"
#include "tare/calibrate/model_file.h"

namespace tare::cli {

/// "0 and 1", "0 and above", "1 and below".
std::string bounds_text(const TargetBounds& bounds);

/// From how many fits bands come, or why there are none.
std::string bands_text(const FittedModel& fitted);

// What a model file says about itself, for 'tare inspect' and reports. `store` is the file that
// `fitted` was loaded from. Of a model that was fitted in folds the first fold speaks.

/// Of a guarantee by rows held out of a series; nothing where rows are in no order.
std::string series_guarantee(const FittedModel& fitted);

Facts model_facts(const FittedModel& fitted, const TensorStore& store);
std::optional<BandwidthPath> bandwidth_path(const TensorStore& store);
std::optional<AutoTrail> auto_trail(const TensorStore& store);

}  // namespace tare::cli
