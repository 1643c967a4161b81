// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "evaluate/experiment/plan.h"
#include "support/command.h"

namespace tare::cli {

/// The user's file as the data of a comparison or a search.
struct FileCase {
  std::string data;
  std::string target;
  std::string features, drop, categorical;
  std::string missing = "error";
};

/// Adds --features, --drop, --categorical and --missing.
void add_column_options(CLI::App& command, FileCase& file);

/// The case: random test rows of the file.
ExperimentCase case_of(const FileCase& file);

}  // namespace tare::cli
