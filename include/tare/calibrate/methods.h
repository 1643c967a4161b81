// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "tare/base/execution.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

class TensorReader;

/// A row of the table of methods.
struct Method {
  std::string_view name;       // spelling used by the command line, Python and the paper's tables
  std::string_view summary;    // what it is, in a line
  std::string_view guarantee;  // what may be relied on, in a line
  std::string_view citation;
  std::string_view defaults;   // parameters this row starts from: "regressor=forest reducer=projection"
  std::span<const ParamInfo> options;
  std::unique_ptr<QuantileModel> (*fit)(const FitInput&, const Params&, const Execution&);
  std::unique_ptr<QuantileModel> (*load)(const TensorReader&);
};

std::span<const Method> methods();

/// By name; case does not matter and - is read as _. kNotFound lists the known names.
const Method& find_method(std::string_view name);

/// Fits a method with its defaults, overridden by `params`. Throws kShapeMismatch (rows differ), kBadData (too few rows, a
/// weight that is negative), kInvalidArgument (an option outside its range).
std::unique_ptr<QuantileModel> fit_method(const Method& method, const FitInput& input,
                                          const Params& params, const Execution& how = {});

}  // namespace tare
