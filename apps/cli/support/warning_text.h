// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "support/command.h"
#include "tare/calibrate/warnings.h"

namespace tare::cli {

/// Prints a line on standard error for each, with its code in brackets, unless --quiet.
void warn_about_answers(const std::vector<PredictionWarning>& warnings, const Common& common);

/// [{"code": "fallback", "rows": 3, "levels": [], "text": "..."}]
nlohmann::ordered_json warnings_json(const std::vector<PredictionWarning>& warnings);

}  // namespace tare::cli
