// SPDX-License-Identifier: BSD-3-Clause
#include "calibrate/automatic/scale_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tare::automatic {
namespace {

/// Noise around zero with a standard deviation that depends on the first two of five features.
struct Noise {
  Matrix x;
  std::vector<double> y;

  explicit Noise(std::size_t rows) : x(rows, 5) {
    Rng rng(Seed{4});
    for (std::size_t i = 0; i < rows; ++i) {
      for (double& value : x.row(i)) value = rng.uniform(-2.0, 2.0);
      y.push_back(std::exp(log_sd(x.row(i))) * rng.normal());
    }
  }
  static double log_sd(std::span<const double> row) {
    return std::sin(2.0 * row[0]) + 0.5 * row[1];
  }
};

/// How far a column is from the truth, but for a constant: a root mean square.
double away_from_truth(std::span<const double> column, const Noise& noise) {
  const double rows = static_cast<double>(column.size());
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < column.size(); ++i) {
    const double apart = column[i] - Noise::log_sd(noise.x.row(i));
    mean += apart / rows;
    square += apart * apart / rows;
  }
  return std::sqrt(square - mean * mean);
}

double error_of_scale(const Noise& noise, GpKernels* processes) {
  const RegressionData data{noise.x, noise.y, {}};
  const Folds folds = Folds::random(noise.y.size(), 4, Seed{5});
  CrossFit fit(data, folds);
  const Matrix zeros(noise.y.size(), 1);
  const std::size_t center = fit.add_given(zeros, 0, 0.0, 1.0);
  Progress progress({}, 1.0);
  const FamilyTraining shop{fit, Seed{6}, {}, progress, processes};
  const std::size_t scale = train_log_scale(shop, center, {}, 1);
  return away_from_truth(fit.column(scale), noise);
}

/// The log of one absolute residual has a standard deviation of 1.11 around the truth, whose own is
/// 0.92.
TEST(ScaleTraining, FindsWhereErrorsAreLarge) {
  const Noise noise(800);
  GpKernels kernels;
  const double trees = error_of_scale(noise, nullptr);
  const double all = error_of_scale(noise, &kernels);
  EXPECT_LT(trees, 0.5);
  EXPECT_LT(all, 0.25);
  EXPECT_LT(all, 0.8 * trees);
}

TEST(ScaleTraining, TakesResidualsThatAreAllZero) {
  Noise noise(100);
  std::fill(noise.y.begin(), noise.y.end(), 0.0);
  const RegressionData data{noise.x, noise.y, {}};
  const Folds folds = Folds::random(100, 4, Seed{5});
  CrossFit fit(data, folds);
  const std::size_t center = fit.add_given(Matrix(100, 1), 0, 0.0, 1.0);
  Progress progress({}, 1.0);
  GpKernels kernels;
  const FamilyTraining shop{fit, Seed{6}, {}, progress, &kernels};
  const std::size_t scale = train_log_scale(shop, center, {}, 1);
  for (const double value : fit.column(scale)) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace tare::automatic
