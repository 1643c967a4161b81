// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tare/calibrate/model_file.h"

namespace tare::fuzz {

/// Models that are fitted within milliseconds and differ in what they need of a row: a number and a
/// category; a series in windows of three rows; a prediction beside a group with a guarantee;
/// quantiles of an outside model.
std::vector<FittedModel> small_models();

/// A model that learns, on the column p, with few rows and two columns.
FittedModel small_online_model();

}  // namespace tare::fuzz
