// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace tare {

/// Where the test rows of a case come from.
enum class TestRows : std::uint8_t {
  kRandom,     // a share of the file's rows, drawn anew for each repeat
  kLast,       // the last rows of a series
  kFile,       // another file with the same columns
  kColumn,     // rows of one value of a column train, those of another test
  kResampled,  // a random share, resampled around a random point: the paper's covariate shift
  kLaw,        // rows drawn from a known-law problem
};

/// One case of an experiment: rows, and which of them test.
struct ExperimentCase {
  std::string name;  // as in the paper's tables
  TestRows test = TestRows::kRandom;
  std::string file;                   // in the data folder
  std::string target;                 // column
  std::vector<std::string> features;  // columns; empty: all others
  std::vector<std::string> drop;
  std::vector<std::string> categorical;
  std::string missing = "error";                // values: error, drop, impute
  std::string test_file;                        // kFile
  std::string column, train_value, test_value;  // kColumn
  std::string problem;                          // kLaw
  std::size_t rows = 0;                         // kLaw
  std::size_t test_rows = 0;                    // kLaw, kResampled
  std::string origin;  // where the public copy of the file is found and what it looks like
};

struct ExperimentMethod {
  std::string method;
  Params params;
};

/// An experiment as data: every method runs on every case in every repeat.
struct ExperimentPlan {
  std::string name;
  std::string title;
  std::string paper;   // name of the paper's table with the same cells; empty: there is none
  std::string figure;  // title of a figure of the first case's bands; empty: there is none
  std::vector<ExperimentCase> cases;
  std::vector<ExperimentMethod> methods;
  std::map<std::pair<std::string, std::string>, Params> tuned;  // by case and method
  std::size_t repeats = 5;
  Seed seed{1};
  double test_share = 0.1;       // of all rows
  double calibrate_share = 0.3;  // of the others, for methods with a calibration step

  /// The method's options in a case: tuned values, overridden by those of the plan.
  Params params_for(const ExperimentCase& one, const ExperimentMethod& method) const;
};

/// Throws kInvalidArgument, naming `source` and the field, if the text is not a plan: a wrong type,
/// an unknown field, an unknown method or problem.
ExperimentPlan parse_plan(std::string_view json, std::string_view source);

/// Checks a plan: its name can be a file name, it has at least one repeat, its cases have rows, and
/// no case or method occurs twice, since results are found by these names. Throws kInvalidArgument.
void check_plan(const ExperimentPlan& plan);

/// Adds the options of a configuration file of `tare tune` (its text) to `plan.tuned` if it is
/// about this experiment.
void add_tuned(ExperimentPlan& plan, std::string_view json, std::string_view source);

/// The plans that come with the library, by name. kNotFound lists them.
ExperimentPlan built_in_plan(std::string_view name);
std::vector<std::string> built_in_plan_names();

}  // namespace tare
