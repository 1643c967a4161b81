// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include <CLI/CLI.hpp>

#include "tare/base/error.h"
#include "tare/base/execution.h"

namespace tare::cli {

/// Options that every command has.
struct Common {
  std::size_t threads = 0;
  std::string device = "auto";
  bool quiet = false;
  bool verbose = false;
  bool json = false;
};

/// Thrown if the work succeeded but a condition of the user is not met: `evaluate --fail-if`.
struct CheckFailed {
  std::string text;
};

// Each adds its command to the tool, with options, help and callback.
void add_fit(CLI::App& app, Common& common);
void add_predict(CLI::App& app, Common& common);
void add_track(CLI::App& app, Common& common);
void add_update(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_control_risk(CLI::App& app, Common& common);
void add_report(CLI::App& app, Common& common);
void add_inspect(CLI::App& app, Common& common);
void add_methods(CLI::App& app, Common& common);
void add_demo(CLI::App& app, Common& common);
void add_compare(CLI::App& app, Common& common);
void add_tune(CLI::App& app, Common& common);
void add_reproduce(CLI::App& app, Common& common);
void add_serve(CLI::App& app, Common& common);
void add_completion(CLI::App& app, Common& common);

/// All of them.
void add_commands(CLI::App& app, Common& common);

/// The text of an error for the command line: an option is written as a flag if a command has it,
/// else with --set.
std::string error_words(const Error& error);

/// Checks of the text of an option, with readable messages.
CLI::Validator whole_number();
CLI::Validator seconds();

/// Adds --threads, --device, --quiet and -v, --json.
void add_common(CLI::App& command, Common& common);

}  // namespace tare::cli
