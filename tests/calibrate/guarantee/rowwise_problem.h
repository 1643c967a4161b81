// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "function_model.h"
#include "math/normal.h"
#include "tare/base/rng.h"

namespace tare {

/// A strongly heteroscedastic and nonlinear distribution: y = 2 sin(3 x) + exp(1.5 x) e, e standard
/// normal, x even on (-1, 1), and a second feature that does not matter.
struct CurvedProblem {
  static double center(double x) { return 2.0 * std::sin(3.0 * x); }
  static double scale(double x) { return std::exp(1.5 * x); }
  static double below(double x, double y) { return normal_cdf((y - center(x)) / scale(x)); }

  struct Data {
    Matrix x;
    std::vector<double> y;
  };
  static Data draw(std::size_t rows, Seed seed) {
    Rng rng(seed);
    Data data{Matrix(rows, 2), {}};
    for (std::size_t i = 0; i < rows; ++i) {
      const double x = rng.uniform(-1.0, 1.0);
      data.x(i, 0) = x;
      data.x(i, 1) = rng.uniform(-1.0, 1.0);
      data.y.push_back(center(x) + scale(x) * rng.normal());
    }
    return data;
  }

  /// A line with one logistic spread everywhere: what a linear model with homoscedastic errors
  /// says.
  static std::unique_ptr<FunctionModel> line_model() {
    return std::make_unique<FunctionModel>(2, [](std::span<const double> x, double tau) {
      return 2.0 * x[0] + std::log(tau / (1.0 - tau));
    });
  }
};

}  // namespace tare
