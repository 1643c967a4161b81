// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "tare/base/matrix.h"
#include "tare/base/rng.h"
#include "tare/model/regressor.h"

namespace tare {

/// Rows with something to learn, owned, so that tests can change them.
struct Sample {
  Matrix x;
  std::vector<double> y;
  std::vector<double> weight;

  RegressionData data() const { return {x.view(), y, weight}; }
};

/// y = sum of a wave and a line in the first columns, plus noise; x in [-2, 2].
inline Sample make_sample(std::size_t rows, std::size_t cols, Seed seed, double noise = 0.3) {
  Sample sample{Matrix(rows, cols), std::vector<double>(rows), {}};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) sample.x(i, j) = rng.uniform(-2.0, 2.0);
    if (cols > 0) sample.y[i] += std::sin(2.0 * sample.x(i, 0));
    if (cols > 1) sample.y[i] += 1.5 * sample.x(i, 1);
    sample.y[i] += noise * rng.normal();
  }
  return sample;
}

inline std::vector<double> predictions(const Regressor& model, MatrixView x,
                                       std::size_t threads = 1) {
  std::vector<double> out(x.rows());
  Execution how;
  how.threads = threads;
  model.predict(x, out, how);
  return out;
}

}  // namespace tare
