// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "report/html/page.h"
#include "report/pages/model_report.h"

namespace tare {

/// What a reader in a hurry must know: each a sentence with what to do about it.
std::vector<Finding> report_findings(const ModelReport& report, const Outcomes& outcomes);

/// The figures that stand at the top.
std::vector<Tile> report_tiles(const ModelReport& report);

/// The scores with what a perfect forecaster would have, and what each means.
Cells metric_cells(const Scores& scores);

}  // namespace tare
