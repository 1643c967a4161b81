// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tare/calibrate/model_file.h"

namespace tare::serve {

/// What GET /v1/model says: the method with its guarantee in words, the columns with their typical
/// values and ranges, so that a client can ask sensible questions.
std::string model_card_json(const FittedModel& fitted, const std::string& version);

}  // namespace tare::serve
