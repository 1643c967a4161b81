// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "data/schema.h"
#include "tare/io/table.h"

namespace tare {

/// A point model that is a program of the user: it reads feature rows as CSV on standard input,
/// with a header and the cells as written in the file; one prediction per line on its standard
/// output.
struct ExternalModel {
  std::string command;
  std::chrono::milliseconds timeout{60'000};
};

/// Predictions for the table's rows `rows`, whose feature columns were read with `raw`. Throws
/// kBadData, naming the command, for a wrong number of lines, a line that is not a finite number, a
/// non-zero exit or a time-out.
std::vector<double> run_external_model(const ExternalModel& model, const Table& table,
                                       const std::vector<std::string>& features,
                                       const std::vector<std::size_t>& rows);

}  // namespace tare
