// SPDX-License-Identifier: BSD-3-Clause
#include "shift_coverage.h"

#include <cmath>

#include "math/normal.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/shift.h"

namespace tare {
namespace {

constexpr std::size_t kNew = 100;

Matrix draw_features(std::size_t rows, double shift, Rng& rng) {
  Matrix x(rows, 3);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : x.row(i)) value = rng.normal();
    x(i, 0) += shift;
  }
  return x;
}

double spread_at(std::span<const double> x) { return std::exp(0.5 * x[0]); }

/// True probability between the 5 % and 95 % quantiles.
double coverage_of(const QuantileModel& model, MatrixView x) {
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {low, high};
  const Prediction p = model.predict({x}, levels, {.threads = 1, .progress = {}});
  double sum = 0.0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const double spread = spread_at(x.row(i));
    sum += normal_cdf(p.quantiles(i, 1) / spread) - normal_cdf(p.quantiles(i, 0) / spread);
  }
  return sum / static_cast<double>(x.rows());
}

}  // namespace

ShiftCoverage shift_coverage(const std::string& guarantee, std::size_t rows, std::uint64_t draws) {
  const Method& method = find_method("pure_kernel");
  const Params params = Params::parse("bandwidth=infinite split=cross guarantee=" + guarantee);
  const Execution how{.threads = 1, .progress = {}};
  ShiftCoverage mean;
  for (std::uint64_t s = 0; s < draws; ++s) {
    Rng rng(split(Seed{500}, s));
    const Matrix x = draw_features(rows, 0.0, rng);
    std::vector<double> y;
    for (std::size_t i = 0; i < rows; ++i) y.push_back(spread_at(x.row(i)) * rng.normal());
    const Matrix announced = draw_features(rows, 1.0, rng);
    const Matrix fresh = draw_features(kNew, 1.0, rng);
    FitInput input{.x = x, .y = y};
    input.seed = Seed{s};
    mean.plain += coverage_of(*fit_method(method, input, params, how), fresh);
    const ShiftWeights weights = weigh_towards(x, {}, announced, Seed{s}, how);
    input.weight = weights.weight;
    input.shift = weights.shift;
    mean.weighted += coverage_of(*fit_method(method, input, params, how), fresh);
  }
  mean.plain /= static_cast<double>(draws);
  mean.weighted /= static_cast<double>(draws);
  return mean;
}

}  // namespace tare
