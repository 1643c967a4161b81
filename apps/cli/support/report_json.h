// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "report/pages/model_report.h"

namespace tare::cli {

/// The scores, as 'tare evaluate --json' prints them.
nlohmann::ordered_json scores_json(const Scores& scores);

/// The contents of a report as JSON: scores, findings, worst regions, slices of each column.
nlohmann::ordered_json report_json(const ModelReport& report, const Outcomes& outcomes);

/// Realised costs by rule; numbers that are not finite are null.
nlohmann::ordered_json worth_json(const CostComparison& worth);
nlohmann::ordered_json sets_json(const SetComparison& sets);

}  // namespace tare::cli
