// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tare/apply/fit.h"

namespace tare::cli {

/// The program of --predictor as a model: feature rows as CSV on its input, a number a line on its
/// output. It may take `timeout_s` seconds for a batch of rows.
OutsideModel outside_program(const std::string& command, double timeout_s);

}  // namespace tare::cli
