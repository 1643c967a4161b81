// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "report/html/page.h"
#include "tare/calibrate/description.h"

namespace tare {

/// "0, 1.5 and 3 more are kept as they are (...)", or nothing where no value is kept.
std::string mass_words(const AutoTrail& trail);

/// The path must not be empty; `remark` says whose it is, where a model has several.
Card bandwidth_card(const BandwidthChoice& choice, std::string_view remark = {});
Card trail_card(const AutoTrail& trail);

}  // namespace tare
