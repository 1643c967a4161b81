// SPDX-License-Identifier: BSD-3-Clause
#include "evaluate/checks.h"

#include <cmath>
#include <limits>

#include "base/fail.h"

namespace tare {

void check_targets(std::string_view where, std::span<const double> y, std::size_t rows) {
  if (y.size() != rows) {
    fail(ErrorCode::kShapeMismatch, "{}: {} targets but {} rows of quantiles", where, y.size(),
         rows);
  }
  if (y.empty()) fail(ErrorCode::kInvalidArgument, "{}: no rows to evaluate", where);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) {
      fail(ErrorCode::kBadData, "{}: target of row {} is {}, not a finite number", where, i, y[i]);
    }
  }
}

void check_not_nan(std::string_view where, MatrixView q) {
  for (std::size_t i = 0; i < q.rows(); ++i) {
    for (std::size_t j = 0; j < q.cols(); ++j) {
      if (std::isnan(q(i, j))) {
        fail(ErrorCode::kBadData, "{}: the quantile in row {}, column {} is NaN", where, i, j);
      }
    }
  }
}

void check_rows(std::string_view where, std::span<const double> y, MatrixView q) {
  check_targets(where, y, q.rows());
  check_not_nan(where, q);
}

void check_levels(std::string_view where, MatrixView q, std::span<const Level> levels) {
  if (q.cols() != levels.size()) {
    fail(ErrorCode::kShapeMismatch, "{}: {} columns of quantiles but {} levels", where, q.cols(),
         levels.size());
  }
  if (levels.empty()) fail(ErrorCode::kInvalidArgument, "{}: no levels to evaluate", where);
}

void check_jumps(std::string_view where, std::span<const double> y,
                 std::span<const TargetJump> jumps) {
  if (jumps.size() != y.size()) {
    fail(ErrorCode::kShapeMismatch, "{}: {} targets but {} jumps", where, y.size(), jumps.size());
  }
}

void check_interval(std::string_view where, std::span<const double> lower,
                    std::span<const double> upper) {
  if (lower.size() != upper.size()) {
    fail(ErrorCode::kShapeMismatch, "{}: {} lower ends but {} upper ends", where, lower.size(),
         upper.size());
  }
  if (lower.empty()) fail(ErrorCode::kInvalidArgument, "{}: no rows to evaluate", where);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (!(lower[i] < kInfinity) || !(upper[i] > -kInfinity)) {
      fail(ErrorCode::kBadData, "{}: row {} has the interval [{}, {}]", where, i, lower[i],
           upper[i]);
    }
  }
}

}  // namespace tare
