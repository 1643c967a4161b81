// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "tare/base/matrix.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// A series in windows: y follows two slow covariates, and around that has noise that is correlated
/// from step to step and larger where the first covariate is.
struct Series {
  std::size_t window = 5;
  Matrix x;
  std::vector<double> y;

  /// `carry` is the correlation of the noise of neighbouring steps.
  static Series draw(std::size_t rows, double carry, Seed seed);
};

/// The share of the last `test` rows within the 90 % interval of a method that is fitted on the
/// rows before them.
double coverage_of_the_future(const Series& series, std::size_t test, const char* method,
                              const char* params);

}  // namespace tare
