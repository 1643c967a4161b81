// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/command.h"
#include "tare/apply/fit.h"

namespace tare::cli {

/// The arguments of `tare fit`.
struct FitArguments {
  std::string data;
  std::string output;
  std::string config;
  std::string predictor;                     // a command
  std::map<std::string, std::string> texts;  // by the name of the option, as in FitOptions::set
  std::vector<std::string> settings;         // --set name=value
  double timeout_s = 60.0;
  bool force = false;
};

void add_fit_options(CLI::App& command, FitArguments& arguments);

/// The arguments as options of the library. Throws kInvalidArgument.
FitOptions fit_options(const FitArguments& arguments);

}  // namespace tare::cli
