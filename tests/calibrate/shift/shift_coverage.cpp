// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/shift/shift_coverage.h"

#include <cmath>

#include "math/normal.h"
#include "tare/calibrate/methods.h"
#include "tare/calibrate/shift.h"

namespace tare {
namespace {

constexpr std::size_t kNew = 100;

bool same_sign(std::span<const double> x) { return x[0] * x[1] > 0.0; }

Matrix draw_old(ShiftKind kind, std::size_t rows, Rng& rng) {
  Matrix x(rows, 3);
  for (double& value : x.values()) {
    value = kind == ShiftKind::kMoved ? rng.normal() : rng.uniform(-1.0, 1.0);
  }
  return x;
}

Matrix draw_new(ShiftKind kind, std::size_t rows, Rng& rng) {
  Matrix x = draw_old(kind, rows, rng);
  for (std::size_t i = 0; i < rows; ++i) {
    if (kind == ShiftKind::kMoved) x(i, 0) += 1.0;
    // One in eight rows has signs that differ.
    const bool same = rng.uniform() < 7.0 / 8.0;
    if (kind == ShiftKind::kCorners && same_sign(x.row(i)) != same) x(i, 0) = -x(i, 0);
  }
  return x;
}

double spread_at(ShiftKind kind, std::span<const double> x) {
  if (kind == ShiftKind::kMoved) return std::exp(0.5 * x[0]);
  return same_sign(x) ? 2.0 : 0.7;
}

/// True probability between the 5 % and 95 % quantiles.
double coverage_of(const QuantileModel& model, ShiftKind kind, MatrixView x) {
  const auto [low, high] = interval_levels(0.9);
  const std::vector<Level> levels = {low, high};
  const Prediction p = model.predict({x}, levels, {.threads = 1, .progress = {}});
  double sum = 0.0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const double spread = spread_at(kind, x.row(i));
    sum += normal_cdf(p.quantiles(i, 1) / spread) - normal_cdf(p.quantiles(i, 0) / spread);
  }
  return sum / static_cast<double>(x.rows());
}

}  // namespace

ShiftCoverage shift_coverage(ShiftKind kind, const std::string& guarantee, std::size_t rows,
                             std::uint64_t draws) {
  const Method& method = find_method("pure_kernel");
  const Params params = Params::parse("bandwidth=infinite split=cross guarantee=" + guarantee);
  const Execution how{.threads = 1, .progress = {}};
  ShiftCoverage mean;
  for (std::uint64_t s = 0; s < draws; ++s) {
    Rng rng(split(Seed{500}, s));
    const Matrix x = draw_old(kind, rows, rng);
    std::vector<double> y;
    for (std::size_t i = 0; i < rows; ++i) y.push_back(spread_at(kind, x.row(i)) * rng.normal());
    const Matrix announced = draw_new(kind, rows, rng);
    const Matrix fresh = draw_new(kind, kNew, rng);
    FitInput input{.x = x, .y = y};
    input.seed = Seed{s};
    mean.plain += coverage_of(*fit_method(method, input, params, how), kind, fresh);
    const ShiftWeights weights = weigh_towards(x, {}, announced, Seed{s}, how);
    input.weight = weights.weight;
    input.shift = weights.shift;
    mean.weighted += coverage_of(*fit_method(method, input, params, how), kind, fresh);
  }
  mean.plain /= static_cast<double>(draws);
  mean.weighted /= static_cast<double>(draws);
  return mean;
}

}  // namespace tare
