// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "function_model.h"
#include "math/normal.h"
#include "tare/base/rng.h"
#include "tare/calibrate/quantile_model.h"

namespace tare {

/// A distribution with jumps whose parameter is the feature of a row.
struct JumpLaw {
  std::string name;
  double from, to;                                  // of the feature
  std::function<double(double x, double y)> cdf;    // P(Y <= y | x)
  std::function<double(double x, double y)> below;  // P(Y < y | x)
  std::function<double(double x, double tau)> quantile;
};

inline double poisson_cdf(double mean, double y) {
  if (y < 0.0) return 0.0;
  double term = std::exp(-mean), sum = term;
  for (double k = 1.0; k <= y; k += 1.0) sum += term *= mean / k;
  return sum < 1.0 ? sum : 1.0;
}

inline JumpLaw poisson_law(double from, double to) {
  return {"poisson",
          from,
          to,
          [](double x, double y) { return poisson_cdf(x, y); },
          [](double x, double y) { return poisson_cdf(x, y - 1.0); },
          [](double x, double tau) {
            double k = 0.0, term = std::exp(-x), sum = term;
            while (sum < tau && k < 1000.0) sum += term *= x / (k += 1.0);
            return k;
          }};
}

/// 0 with probability x, else exponential.
inline JumpLaw zeros_law() {
  return {"zeros",
          0.1,
          0.8,
          [](double x, double y) { return y < 0.0 ? 0.0 : x + (1.0 - x) * -std::expm1(-y); },
          [](double x, double y) { return y <= 0.0 ? 0.0 : x + (1.0 - x) * -std::expm1(-y); },
          [](double x, double tau) { return tau <= x ? 0.0 : -std::log((1.0 - tau) / (1.0 - x)); }};
}

/// A normal variable with mean x and standard deviation 1.5, rounded to whole numbers.
inline JumpLaw rounded_law() {
  const auto cdf = [](double x, double y) { return normal_cdf((y + 0.5 - x) / 1.5); };
  return {"rounded",
          -3.0,
          3.0,
          cdf,
          [cdf](double x, double y) { return cdf(x, y - 1.0); },
          [](double x, double tau) { return std::ceil(x + 1.5 * normal_quantile(tau) - 0.5); }};
}

inline std::vector<JumpLaw> jump_laws() {
  return {poisson_law(0.3, 6.0), poisson_law(0.2, 0.4), zeros_law(), rounded_law()};
}

struct JumpRows {
  Matrix x;
  std::vector<double> y;
};

/// The feature is uniform, the target its quantile at a uniform level.
inline JumpRows draw_rows_of(const JumpLaw& law, std::size_t rows, Seed seed) {
  Rng rng(seed);
  JumpRows drawn{Matrix(rows, 1), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    drawn.x(i, 0) = rng.uniform(law.from, law.to);
    drawn.y.push_back(law.quantile(drawn.x(i, 0), rng.uniform()));
  }
  return drawn;
}

/// The perfect forecaster. With `factor` other than 1 all its quantiles are too large or small.
class JumpModel final : public FunctionModel {
 public:
  explicit JumpModel(JumpLaw law, double factor = 1.0)
      : FunctionModel(1, [law = std::move(law), factor](std::span<const double> x, double tau) {
          return law.quantile(factor * x[0], tau);
        }) {}
};

}  // namespace tare
