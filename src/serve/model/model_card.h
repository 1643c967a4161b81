// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tare/calibrate/description.h"

namespace tare::serve {

/// The body of GET /v1/model: the method, the levels that its guarantee keeps, and the columns with
/// their typical values and ranges, so that a client can build sensible requests. `online` is the
/// member of that name of an online model, as JSON; empty for the others.
std::string model_card_json(const Description& model, const std::string& version,
                            const std::string& online = {});

/// An example row as a JSON object: medians and the most frequent categories.
std::string typical_row_json(const Description& model);

}  // namespace tare::serve
