// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "tare/base/params.h"

namespace tare {

/// A method with options that were found to be good, as `tare tune` writes it and as `fit`,
/// `compare` and `reproduce` take it:
///   {"method": "hnn", "options": {"batch": "10"}, "data": "Energy", "experiment": "uci", ...}
/// Other fields say how it was found, and are not read.
struct MethodConfig {
  std::string method;
  Params params;
  std::string data;        // what it was tuned on; may be empty
  std::string experiment;  // the plan whose case that is; empty: a file of the user's
};

/// Throws kInvalidArgument, naming `source`, for what is not a configuration, kNotFound for an
/// unknown method.
MethodConfig parse_config(std::string_view json, std::string_view source);
MethodConfig read_config(const std::string& path);

}  // namespace tare
