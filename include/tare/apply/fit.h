// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tare/apply/notice.h"
#include "tare/base/execution.h"
#include "tare/base/export.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"
#include "tare/calibrate/model_file.h"
#include "tare/data/missing_policy.h"
#include "tare/io/table.h"

namespace TARE_PUBLIC tare {

/// What an outside model predicts for these rows of a table, a number for each. `features` are the
/// columns it may look at, whose cells are there as they are written (Column::raw).
using OutsideModel =
    std::function<std::vector<double>(const Table& table, const std::vector<std::string>& features,
                                      const std::vector<std::size_t>& rows)>;

/// How a table is fitted: which column plays which part, by name, and the method with its options.
/// What is empty is left to tare.
struct FitOptions {
  std::string target;  // the column to be predicted; the only one that must be named

  std::string method = {};  // a row of methods(); empty: see choose_method
  Params params = {};       // options of the method and of its point model

  // What an outside model predicts: a column, and one with its standard deviation where the first
  // is a mean; or columns of quantiles, by name ("q0.05"), pattern ("q*") or as NAME=LEVEL; or a
  // function. `predictor` is the command behind the function, which the model file remembers.
  std::string prediction = {};
  std::string prediction_sd = {};
  std::vector<std::string> prediction_quantiles = {};
  OutsideModel outside_model = {};
  std::string predictor = {};

  std::vector<std::string> features = {};  // empty: every other column
  std::vector<std::string> drop = {};
  std::vector<std::string> categorical = {};   // columns of numbers that are names
  std::vector<std::string> calibrate_on = {};  // columns of the kernel; {"auto"}: those that matter
  std::string weight = {};                     // a column of sample weights
  std::string group = {};                      // a column within whose values the guarantee holds

  std::string split = {};  // rows that calibrate: a share, cross, time, time:SHARE, by:COLUMN=VALUE
  std::size_t window = 0;  // steps of a series that a row sees; 0: the method's
  MissingPolicy missing = MissingPolicy::kError;
  // Rows to be predicted, which those of the fit are weighted to resemble: a table, or a file.
  std::shared_ptr<const Table> shift_to = {};
  std::string shift_to_file = {};
  Seed seed = {};

  /// Sets one of the above by its name, or an option of the method, from text: how names from
  /// outside (a command line, C, R) arrive. Lists have commas; shift_to is a file. Throws
  /// kInvalidArgument for a text that does not fit; an unknown name is taken for an option of the
  /// method, which fit() checks.
  void set(std::string_view name, std::string_view text);
};

/// The method of the options or, where they name none, the one that suits what is given: "auto";
/// where `auto` lacks an option that was asked for (a series, a split, an option of the nrc family)
/// or a prediction comes with its own spread, "nrc" around a prediction and "nrc_rf" without one.
std::string_view choose_method(const FitOptions& options);

/// Throws kInvalidArgument or kNotFound for what is wrong with the options whatever the table is.
void check_fit_options(const FitOptions& options);

/// What a fit did to the table's rows.
struct FitSummary {
  std::size_t features = 0;        // columns of numbers that the model sees
  std::size_t dropped = 0;         // rows left out for a missing value
  std::size_t imputed = 0;         // cells filled in
  std::size_t without_window = 0;  // rows left out for want of a past
  double shifted_rows = 0.0;       // effective rows that weights towards shift_to leave; 0: none
  std::vector<Notice> notices;     // all of this in sentences
};

/// Fits a method to a table: `tare fit` as a function. Bands are fitted as bands=auto says unless
/// the options say otherwise. Throws kNotFound (a column or a method that is not there),
/// kInvalidArgument (options that contradict each other), kBadData (too few rows, a missing value,
/// a text among numbers). `summary` may be null.
FittedModel fit(const Table& table, const FitOptions& options, const Execution& how = {},
                FitSummary* summary = nullptr);

/// A file with the columns that the fit needs, each read as the options say: `fit` takes it as it
/// is. Throws what read_csv(path) throws, and kNotFound for a column that is not there.
Table read_csv(const std::string& path, const FitOptions& options, std::size_t threads = 0);

}  // namespace tare
