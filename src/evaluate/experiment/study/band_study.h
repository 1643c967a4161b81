// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "evaluate/experiment/result_file.h"
#include "tare/base/execution.h"
#include "tare/base/params.h"
#include "tare/base/rng.h"

namespace tare {

/// How often bands hold the true quantile, and how wide they are, on known-law problems.
struct BandStudy {
  std::vector<std::string> methods = {"nrc",  "nrc_rf",        "nrc_boost",
                                      "auto", "deep_ensemble", "cqr_boost"};
  std::vector<std::string> problems;  // by default those of the plan `oracle`
  std::vector<std::size_t> rows = {1'000, 4'000};
  Params params;                // for every method, over its own
  std::size_t queries = 1'000;  // fresh rows at which bands are evaluated
  std::size_t draws = 20;       // of the data, from which a method's real error is taken
  std::size_t fits = 4;         // of these, with bands
  Seed seed{1};

  static BandStudy standard();
};

/// A method on a problem: what is measured.
struct BandCell {
  std::string method, problem;
  std::size_t rows = 0;
  // At each of band_study_levels(), mean over fits; empty where no fit has bands:
  std::vector<double> held;   // the share of queries whose band holds
  std::vector<double> width;  // the median width, relative to the band from the method's real error
  double effective_n = 0.0;   // median of the queries, mean over fits
};

/// 0.05, 0.25, 0.5, 0.75, 0.95.
std::span<const Level> band_study_levels();

/// Runs what `results` does not have yet. For each method, problem and number of rows: `draws`
/// fits on fresh data, whose root mean square error at each query and level times 2 * 1.645 is the
/// width of the band from the method's real error. The bands of the first `fits` are compared with
/// the true quantiles at the queries. `auto` has the budget `quick` unless `params` says otherwise.
/// Depends on the study alone, not on threads.
std::vector<BandCell> run_band_study(const BandStudy& study, ResultFile& results,
                                     const Execution& how);

}  // namespace tare
