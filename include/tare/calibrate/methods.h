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

/// The source of a method's point model.
enum class PointSource : std::uint8_t {
  kOwn,         // it trains its own; a given prediction is an error
  kOwnOrGiven,  // a given prediction replaces its own
};

/// An entry of the table of methods.
struct Method {
  std::string_view name;       // spelling used by the command line and Python
  std::string_view paper;      // spelling in the paper's tables; empty if it is not in them
  std::string_view summary;    // a one-line description
  std::string_view guarantee;  // what it guarantees, in one line
  std::string_view citation;
  std::string_view
      defaults;        // default parameters of this method: "regressor=forest reducer=projection"
  PointSource point;   // the source of the point model
  std::size_t window;  // default number of time steps of a row; 1: rows are not a series
  std::span<const ParamInfo> options;
  std::unique_ptr<QuantileModel> (*fit)(const FitInput&, const Params&, const Execution&);
  std::unique_ptr<QuantileModel> (*load)(const TensorReader&);
  std::size_t many_rows = 0;  // with more rows a fit takes long, and `tare fit` warns; 0: never
  bool on_columns = false;    // the features of the kernel can be chosen
  bool slow = false;          // a fit takes minutes, and bands=auto is off
  std::string_view half_params =
      {};  // parameters that override those of the fits on half of the rows, for the bands
  std::string_view proof_params =
      {};  // the same for the second model of a loose guarantee, unless the budget is quick
  std::size_t loose_from = 60;  // number of rows from which guarantee=auto means loose: two thirds
                                // of so few must be enough to train the second model
  /// What the method asks of the rows of a fit beyond what every method does. Called with all rows,
  /// before some are held out, so that an error names a row of the caller. Null: nothing.
  void (*check)(const FitInput&, const Params&) = nullptr;
};

std::span<const Method> methods();

/// Options that every method has in addition to its own. fit_method implements them.
std::span<const ParamInfo> common_options();

/// Finds a method by its name or the paper's name; case is ignored and - is read as _. Throws
/// kNotFound with the known names.
const Method& find_method(std::string_view name);

/// The parameters of a fit: the method's defaults, overridden by `given`.
Params effective_params(const Method& method, const Params& given);

/// Fits a method with its defaults, overridden by `params`. Throws kShapeMismatch (rows differ),
/// kBadData (too few rows, a weight that is negative), kInvalidArgument (an option outside its
/// range).
std::unique_ptr<QuantileModel> fit_method(const Method& method, const FitInput& input,
                                          const Params& params, const Execution& how = {});

}  // namespace tare
