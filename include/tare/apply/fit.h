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

/// Predictions of an outside model for rows of a table, one number per row. `features` are the
/// columns that it may use. Column::raw has their cells as they are written in the file.
using OutsideModel =
    std::function<std::vector<double>(const Table& table, const std::vector<std::string>& features,
                                      const std::vector<std::size_t>& rows)>;

/// How to fit a table: the role of each column, by name, and the method with its options. tare
/// chooses every member that is empty.
struct FitOptions {
  std::string target;  // the column to predict; the only required member

  std::string method = {};  // a name in methods(); empty: see choose_method
  Params params = {};       // options of the method and of its point model

  // The predictions of an outside model, in one of three forms: a column, with a second column of
  // standard deviations if the first is a mean; columns of quantiles, by name ("q0.05"), pattern
  // ("q*") or as NAME=LEVEL; or a function. `predictor` is the command that the function runs. The
  // model file stores it.
  std::string prediction = {};
  std::string prediction_sd = {};
  std::vector<std::string> prediction_quantiles = {};
  OutsideModel outside_model = {};
  std::string predictor = {};

  std::vector<std::string> features = {};  // empty: every other column
  std::vector<std::string> drop = {};
  std::vector<std::string> categorical = {};   // columns whose numbers are category codes
  std::vector<std::string> calibrate_on = {};  // features of the kernel; {"auto"}: by screening
  std::string weight = {};                     // a column of row weights
  std::string group = {};  // a column of groups within which the guarantee holds

  std::string split = {};  // rows that calibrate: a share, cross, time, time:SHARE, by:COLUMN=VALUE
  std::size_t window = 0;  // consecutive rows that the model sees; 0: the method's default
  MissingPolicy missing = MissingPolicy::kError;
  // Rows to predict, as a table or a file. The rows of the fit are weighted to resemble them.
  std::shared_ptr<const Table> shift_to = {};
  std::string shift_to_file = {};
  Seed seed = {};

  /// Sets a member or an option of the method by name, from text. Front ends (command line, C, R)
  /// use it. Lists are separated by commas; shift_to is a file. Throws kInvalidArgument for an
  /// invalid text. An unknown name becomes an option of the method, which fit() checks.
  void set(std::string_view name, std::string_view text);
};

/// The method that the options name, else "auto". If `auto` does not have an option that is set (a
/// series, a split, an option of the nrc family), or the given predictions include a spread, the
/// method is "nrc" with given predictions and "nrc_rf" without.
std::string_view choose_method(const FitOptions& options);

/// Checks everything that does not depend on the table. Throws kInvalidArgument or kNotFound.
void check_fit_options(const FitOptions& options);

/// What a fit did with the rows of the table.
struct FitSummary {
  std::size_t features = 0;        // number of columns of the feature matrix
  std::size_t dropped = 0;         // rows left out because of a missing value
  std::size_t imputed = 0;         // cells filled in
  std::size_t without_window = 0;  // rows left out because their window is incomplete
  double shifted_rows = 0.0;  // effective sample size of the weights towards shift_to; 0: no shift
  std::vector<Notice> notices;  // the same as sentences
};

/// Fits a method to a table: `tare fit` as a function. The default of `bands` is "auto" here.
/// Throws kNotFound (a column or a method does not exist), kInvalidArgument (options contradict
/// each other), kBadData (too few rows, a missing value, a text among numbers). `summary` may be
/// null.
FittedModel fit(const Table& table, const FitOptions& options, const Execution& how = {},
                FitSummary* summary = nullptr);

/// Reads the columns of a file that the fit needs, as the options require. Pass the result to
/// `fit`. Throws what read_csv(path) throws, and kNotFound for a column that does not exist.
Table read_csv(const std::string& path, const FitOptions& options, std::size_t threads = 0);

}  // namespace tare
