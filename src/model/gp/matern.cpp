// SPDX-License-Identifier: BSD-3-Clause
#include "model/gp/matern.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "math/exponential.h"
#include "math/vector_targets.h"
#include "model/nn/kernels/kernels.h"

namespace tare {
namespace {

constexpr std::size_t kMaternRows = 32;  // at once: what they need of `points` stays in the caches

std::vector<double> squared_lengths(MatrixView rows) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    double sum = 0.0;
    for (const double value : rows.row(i)) sum += value * value;
    lengths.push_back(sum);
  }
  return lengths;
}

/// From products of a row with the points to correlations; `slope` may be null.
TARE_VECTOR_TARGETS void correlate(double own, const double* __restrict lengths,
                                   double* __restrict value, double* __restrict slope,
                                   std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    const double apart = own + lengths[j] - 2.0 * value[j];
    const double r = std::sqrt(5.0 * (apart > 0.0 ? apart : 0.0));
    const double decay = exp_negative(-r);
    value[j] = (1.0 + r + r * r / 3.0) * decay;
    if (slope != nullptr) slope[j] = 5.0 / 3.0 * (1.0 + r) * decay;
  }
}

TARE_VECTOR_TARGETS void add_correlations(double own, const double* __restrict points,
                                          double variance, double* __restrict result,
                                          std::size_t count) {
  const double root = std::sqrt(5.0);
  for (std::size_t j = 0; j < count; ++j) {
    const double apart = own - points[j];
    const double r = root * (apart > 0.0 ? apart : -apart);
    result[j] += variance * (1.0 + r + r * r / 3.0) * exp_negative(-r);
  }
}

/// Sums in parts, so that the loop needs no order.
TARE_VECTOR_TARGETS void sum_slopes(double own, const double* __restrict points,
                                    const double* __restrict g, std::size_t count,
                                    double* __restrict value, double* __restrict slope) {
  constexpr std::size_t kParts = 16;
  const double root = std::sqrt(5.0);
  double values[kParts] = {};
  double slopes[kParts] = {};
  for (std::size_t first = 0; first < count; first += kParts) {
    const std::size_t some = count - first < kParts ? count - first : kParts;
    for (std::size_t k = 0; k < some; ++k) {
      const double apart = own - points[first + k];
      const double r = root * (apart > 0.0 ? apart : -apart);
      const double weighted = g[first + k] * exp_negative(-r);
      values[k] += weighted * (1.0 + r + r * r / 3.0);
      slopes[k] -= weighted * (1.0 + r) * r * r / 3.0;
    }
  }
  *value = *slope = 0.0;
  for (std::size_t k = 0; k < kParts; ++k) {
    *value += values[k];
    *slope += slopes[k];
  }
}

}  // namespace

void add_matern(double own, std::span<const double> points, double variance,
                std::span<double> result) {
  add_correlations(own, points.data(), variance, result.data(), points.size());
}

MaternSlopes matern_slopes(double own, std::span<const double> points, double variance,
                           std::span<const double> g) {
  MaternSlopes sums;
  sum_slopes(own, points.data(), g.data(), points.size(), &sums.by_variance, &sums.by_log_rate);
  sums.by_log_rate *= variance;
  return sums;
}

Matern matern(MatrixView z, MatrixView points, WithSlope with_slope, const Execution& how) {
  const std::size_t count = points.rows();
  const std::size_t cols = points.cols();
  std::vector<double> across(count * cols);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t k = 0; k < cols; ++k) across[k * count + j] = points(j, k);
  }
  const std::vector<double> lengths = squared_lengths(points);
  const std::vector<double> own = squared_lengths(z);
  Matern result{Matrix(z.rows(), count), {}};
  if (with_slope == WithSlope::kYes) result.slope = Matrix(z.rows(), count);
  parallel_blocks(how, z.rows(), kMaternRows, [&](std::size_t first, std::size_t last) {
    nn::accumulate_product(nn::Product<double>{last - first, count, cols, z.row(first).data(), cols,
                                               1, across.data(), count,
                                               result.value.row(first).data(), count});
    for (std::size_t i = first; i < last; ++i) {
      correlate(own[i], lengths.data(), result.value.row(i).data(),
                with_slope == WithSlope::kYes ? result.slope.row(i).data() : nullptr, count);
    }
  });
  return result;
}

}  // namespace tare
