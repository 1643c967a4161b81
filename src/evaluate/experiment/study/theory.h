// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tare/base/execution.h"
#include "tare/base/rng.h"

namespace tare {

/// Least squares of log y on log x. The standard error is that of independent errors of equal size,
/// NaN for fewer than three points.
struct LogSlope {
  double slope = 0.0;
  double standard_error = 0.0;
};
LogSlope log_slope(std::span<const double> x, std::span<const double> y);

/// The mean squared error of SNQ's quantiles against the number of rows.
struct RateCurve {
  int theorem = 1;   // of the paper: 1 or 3
  std::string name;  // "d = 2"
  std::vector<double> rows;
  std::vector<double> error;
  LogSlope fitted;
  double expected = 0.0;  // the theorem's slope
};

/// The mean pinball loss of calibration against the first 0, 1, 2, ... features.
struct ColumnCurve {
  std::string name;      // "n = 1000", or that of the best there is
  std::size_t rows = 0;  // calibration rows; 0: the true conditional quantiles
  std::vector<double> loss;
};

struct TheoryOptions {
  Seed seed{1};
  std::size_t samples = 10;  // draws of the data behind each figure
  std::size_t queries = 400;
  std::size_t least_rows = 4'000;  // sizes double from here to there
  std::size_t most_rows = 256'000;
  std::vector<std::size_t> column_rows = {100, 500, 2'500};  // that Theorem 5 is shown with
  std::size_t grid = 6;                                      // grid points of a feature, Theorem 5
};

struct Theory {
  std::vector<RateCurve> rates;
  std::vector<ColumnCurve> columns;
};

/// The paper's theorems in numbers, on known-law problems, with the residuals of the true mean (a
/// perfect f) and, for the rates, the paper's window, at queries in the middle half of each
/// feature.
///
/// Theorem 1: for d = 1, 2, 4 features that all matter the error falls as n^(-2/(d+2)), with a
/// kernel on all of them. Theorem 3: one of four features matters; a kernel on that one has the
/// rate of d = 1, a kernel on all four that of d = 4. Theorem 5: four features matter, and the loss
/// of the true conditional quantiles falls with each feature that they use. The loss of estimated
/// quantiles falls less, in particular with few rows.
///
/// The result depends on the options alone, not on threads. kInvalidArgument for options without
/// samples, queries or rows.
Theory run_theory(const TheoryOptions& options, const Execution& how);

}  // namespace tare
