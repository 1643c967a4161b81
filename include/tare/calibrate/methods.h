// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/params.h"
#include "tare/calibrate/quantile_model.h"

namespace TARE_PUBLIC tare {

class TensorReader;

/// Where a method's point model comes from.
enum class PointSource : std::uint8_t {
  kOwn,         // it trains its own; a given prediction is an error
  kOwnOrGiven,  // a given prediction takes the place of its own
};

/// A row of the table of methods.
struct Method {
  std::string_view name;       // spelling used by the command line and Python
  std::string_view paper;      // spelling of the paper's tables; empty where it is not in them
  std::string_view summary;    // what it is, in a line
  std::string_view guarantee;  // what may be relied on, in a line
  std::string_view citation;
  std::string_view
      defaults;        // parameters this row starts from: "regressor=forest reducer=projection"
  PointSource point;   // where the point model may come from
  std::size_t window;  // steps of a series it looks at unless told otherwise; 1: rows stand alone
  std::span<const ParamInfo> options;
  std::unique_ptr<QuantileModel> (*fit)(const FitInput&, const Params&, const Execution&);
  std::unique_ptr<QuantileModel> (*load)(const TensorReader&);
  std::size_t many_rows = 0;  // above so many rows a fit takes long, and a tool says so; 0: never
  bool on_columns = false;    // can be told on which columns to calibrate
  bool slow = false;          // a fit takes minutes, and bands=auto is off
  std::string_view half_params = {};  // override a fit on half of the rows, for the bands
};

std::span<const Method> methods();

/// Options that every method takes beside its own: fit_method sees to them.
std::span<const ParamInfo> common_options();

/// By name or the paper's name; case does not matter and - is read as _. kNotFound lists the known
/// names.
const Method& find_method(std::string_view name);

/// The method's defaults, overridden by what was given: what a fit starts from.
Params effective_params(const Method& method, const Params& given);

/// Fits a method with its defaults, overridden by `params`. Throws kShapeMismatch (rows differ),
/// kBadData (too few rows, a weight that is negative), kInvalidArgument (an option outside its
/// range).
std::unique_ptr<QuantileModel> fit_method(const Method& method, const FitInput& input,
                                          const Params& params, const Execution& how = {});

}  // namespace tare
