// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/command.h"
#include "tare/base/params.h"

namespace tare::cli {

/// What the user wrote behind `tare fit`.
struct FitOptions {
  std::string data;
  std::string output;
  std::string method;
  std::string config;
  std::string target, prediction, prediction_sd, prediction_quantiles, predictor, weight, group;
  std::string shift_to;  // a file with rows to be predicted
  std::string features, drop, categorical, calibrate_on;
  std::string missing = "error";
  std::string split;
  std::vector<std::string> settings;                  // --set name=value
  std::map<std::string, std::string> method_options;  // by the method's own name of the option
  std::size_t window = 0;                             // 0: the method's
  double timeout_s = 60.0;
  std::uint64_t seed = 0;
  bool force = false;
};

void add_fit_options(CLI::App& command, FitOptions& options);

/// Whether a model that exists says something about each row.
bool takes_prediction(const FitOptions& options);
/// The method's options among them. Throws kInvalidArgument.
Params params_of(const FitOptions& options);
/// Whether the columns to calibrate on are to be found, by --calibrate-on auto.
bool finds_columns(const FitOptions& options);
/// The method they name, or that which fits what is given.
std::string chosen_method(const FitOptions& options);

}  // namespace tare::cli
