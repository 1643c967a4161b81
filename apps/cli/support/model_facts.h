// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "report/pages/model_report.h"
#include "tare/calibrate/description.h"

namespace tare::cli {

// What a model says about itself, in words: for 'tare inspect', 'tare fit' and reports.

/// "0 and 1", "0 and above", "1 and below".
std::string bounds_text(const BoundsDescription& bounds);

/// From how many fits bands come, or why there are none.
std::string bands_text(const BandsDescription& bands);

/// What is shown of a model. Of one that was fitted in folds the first fold speaks.
Facts model_facts(const Description& model);

}  // namespace tare::cli
