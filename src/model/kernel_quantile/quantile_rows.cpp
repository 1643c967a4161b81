// SPDX-License-Identifier: BSD-3-Clause
#include "model/kernel_quantile/quantile_rows.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "data/rows.h"
#include "math/kernel.h"

namespace tare {
namespace {

constexpr double kFarthestPlace = 1e15;  // in standard deviations; its square is finite

}  // namespace

QuantileRows QuantileRows::take(std::span<const std::size_t> chosen) const {
  return {take_rows(x, chosen), take_rows(y, chosen), take_rows(cost, chosen)};
}

void standardise_row(std::span<const double> row, std::span<const Standard> columns,
                     std::span<double> out) {
  for (std::size_t j = 0; j < row.size(); ++j) {
    out[j] = std::clamp(standardised(row[j], columns[j]), -kFarthestPlace, kFarthestPlace);
  }
}

Matrix kernel_of_rows(MatrixView a, MatrixView b, double width, const Execution& how) {
  Matrix kernel(a.rows(), b.rows());
  const double factor = -0.5 / (width * width);
  parallel_blocks(how, a.rows(), 64, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < b.rows(); ++k)
        kernel(i, k) = std::exp(factor * squared_distance(a.row(i), b.row(k)));
    }
  });
  return kernel;
}

double median_distance(MatrixView x) {
  constexpr std::size_t kMost = 500;
  std::vector<double> distances;
  for (std::size_t i = 0; i < std::min(x.rows(), kMost); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double squared = squared_distance(x.row(i), x.row(k));
      if (squared > 0.0) distances.push_back(squared);
    }
  }
  if (distances.empty()) return 1.0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return std::sqrt(*middle);
}

std::vector<double> costs_for(std::span<const double> cost, double penalty) {
  std::vector<double> result;
  const double factor = 1.0 / (penalty * static_cast<double>(cost.size()));
  for (const double one : cost) result.push_back(factor * one);
  return result;
}

}  // namespace tare
