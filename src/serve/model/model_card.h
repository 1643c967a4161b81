// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tare/calibrate/description.h"

namespace tare::serve {

/// What GET /v1/model says: the method, what its guarantee keeps, the columns with their typical
/// values and ranges, so that a client can ask sensible questions.
std::string model_card_json(const Description& model, const std::string& version);

/// A row that the model can be asked about, as an object of JSON: medians and the most frequent
/// categories.
std::string typical_row_json(const Description& model);

}  // namespace tare::serve
