// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/gp_kernel.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "data/rows.h"
#include "model/gp/matern.h"

namespace tare {

double standardised_feature(double value, const Standard& column) {
  constexpr double kFarthest = 1e6;  // distances are finite
  return std::clamp(standardised(value, column), -kFarthest, kFarthest);
}

double GpKernel::variance() const { return std::accumulate(alone.begin(), alone.end(), signal); }

Matrix GpKernel::scaled(MatrixView x) const {
  const std::size_t cols = features();
  Matrix z(x.rows(), cols + alone.size());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      const double value = standardised_feature(x(i, j), column[j]);
      z(i, j) = rate[j] * value;
      if (!alone.empty()) z(i, cols + j) = alone_rate[j] * value;
    }
  }
  return z;
}

Matrix GpKernel::covariance(const Matrix& z, const Matrix& points, const Execution& how) const {
  const std::size_t cols = features();
  const auto together = [&](const Matrix& rows) {
    return alone.empty() ? rows : take_rows(rows, all_rows(rows.rows()), all_rows(cols));
  };
  Matrix result = matern(together(z), together(points), WithSlope::kNo, how).value;
  std::vector<std::vector<double>> places(alone.size());
  for (std::size_t j = 0; j < alone.size(); ++j) {
    for (std::size_t k = 0; k < points.rows(); ++k) places[j].push_back(points(k, cols + j));
  }
  parallel_for(how, z.rows(), [&](std::size_t i) {
    const auto row = result.row(i);
    for (double& value : row) value *= signal;
    for (std::size_t j = 0; j < alone.size(); ++j) {
      if (alone[j] > 0.0) add_matern(z(i, cols + j), places[j], alone[j], row);
    }
  });
  return result;
}

}  // namespace tare
