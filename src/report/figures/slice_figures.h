// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluate/slices.h"
#include "evaluate/worst_regions.h"
#include "report/html/page.h"

namespace tare {

/// Coverage and width of the 90 % intervals along one column, with error bars.
Card column_card(const ReportColumn& column, const std::vector<Slice>& slices);

/// The description of a region: "age from 31 to 47 and colour = red", or "all rows".
std::string region_text(const Region& region, std::span<const ReportColumn> columns);
/// What is wrong in a region: "intervals too wide", "predictions too large".
std::string region_fault(const Region& region);

/// The regions where calibration is worst, corrected for multiple tests.
Card worst_regions_card(const RegionSearch& search, std::span<const ReportColumn> columns);

}  // namespace tare
