// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "report/pages/model_report.h"
#include "tare/calibrate/description.h"

namespace tare::cli {

// The description of a model as text, for 'tare inspect', 'tare fit' and reports.

/// "0 and 1", "0 and above", "1 and below".
std::string bounds_text(const BoundsDescription& bounds);

/// The number of fits of the bands, or the reason why there are none.
std::string bands_text(const BandsDescription& bands);

/// The lines that describe a model. If it was fitted in folds, they describe the first fold.
Facts model_facts(const Description& model);

}  // namespace tare::cli
