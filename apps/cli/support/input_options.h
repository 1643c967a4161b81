// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apply/model_input.h"
#include "support/command.h"
#include "tare/apply/notice.h"

namespace tare::cli {

/// Options of the commands that apply a model to a file.
struct InputOptions {
  std::string missing;    // empty: as at fit
  std::string predictor;  // the program for a model that was fitted with --predictor
  double timeout_s = 60.0;

  std::optional<MissingPolicy> policy() const;
  OutsideModel outside_model() const;
};
void add_input_options(CLI::App& command, InputOptions& options);

/// The rows of a file on which a model is scored.
ModelInput measured_rows(const FittedModel& fitted, const std::string& path,
                         const InputOptions& options, const std::vector<std::string>& keep);

/// The value of --set where shortest sets are put beside central intervals. Throws
/// kInvalidArgument.
bool wants_shortest_sets(const std::string& text);

/// Prints a line on standard error for each, with the file name first and the code in brackets
/// last, unless --quiet.
void warn_about(const std::vector<Notice>& notices, const std::string& source,
                const Common& common);

}  // namespace tare::cli
