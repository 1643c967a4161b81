// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tare/apply/fit.h"

namespace tare::cli {

/// The program of --predictor as a model: it reads feature rows as CSV on standard input and writes
/// one number per line to standard output. Its time limit is `timeout_s` seconds per batch of rows.
OutsideModel outside_program(const std::string& command, double timeout_s);

}  // namespace tare::cli
