// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "report/html/page.h"
#include "report/pages/model_report.h"

namespace tare {

/// The main findings, each with advice.
std::vector<Finding> report_findings(const ModelReport& report, const Outcomes& outcomes);

/// The numbers at the top of the page.
std::vector<Tile> report_tiles(const ModelReport& report);

/// The scores, those of a perfect forecaster, and the meaning of each.
Cells metric_cells(const Scores& scores);

}  // namespace tare
