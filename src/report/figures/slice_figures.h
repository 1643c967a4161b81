// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluate/slabs.h"
#include "evaluate/slices.h"
#include "report/html/page.h"

namespace tare {

/// Coverage and width of the 90 % intervals along one column, with error bars.
Card column_card(const ReportColumn& column, const std::vector<Slice>& slices);

/// What a place is called: "age from 31 to 47 and colour = red", or "all rows".
std::string place_text(const Place& place, std::span<const ReportColumn> columns);
/// What is wrong there, in words: "covers too little", "predictions too large".
std::string place_fault(const Place& place);

/// Where calibration is worst, corrected for looking at many.
Card worst_places_card(const PlaceSearch& search, std::span<const ReportColumn> columns);

}  // namespace tare
