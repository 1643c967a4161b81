// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tensor_split.cuh"
#include "weights.cuh"

namespace tare_cuda {

// A total below this would lose rows to underflow.
inline constexpr double kLeastTotal = 0x1p-30;
constexpr double kLeastCompactTotal = 1e-3;
// Rows whose weight is below exp(-12) of the largest do not count.
constexpr float kReachExponent = 12.0F;
// The largest relative error of a weight that counts, times the root of the window's effective
// size: errors of different rows cancel.
constexpr float kWeightError = 1e-4F;
constexpr float kMostError = 1e-3F;

/// Bound on the relative error of the weights that count, for a query at `nearest` of its nearest
/// row.
__device__ inline float weight_error(const RowsView& rows, const BatchView& batch, Metric metric,
                                     float query_norm, float nearest) {
  const auto h = static_cast<float>(batch.bandwidth);
  const bool laplace = batch.kernel == kTareCudaLaplace;
  const bool gaussian = batch.kernel == kTareCudaGaussian;
  const float reach = laplace    ? nearest + kReachExponent * h
                      : gaussian ? sqrtf(nearest * nearest + 2.0F * kReachExponent * h * h)
                                 : h;
  const float row_norm = fminf(query_norm + reach, rows.largest_norm);
  const float distance = fminf(reach, query_norm + row_norm);
  if (laplace) {
    const float moved = 2.0F * kUnit * (query_norm + row_norm);
    return (moved + (static_cast<float>(rows.dims) + 4.0F) * kUnit * distance) / h;
  }
  const float squared = metric == Metric::kTensor
                            ? tensor_error(rows.dims, query_norm, row_norm, distance)
                            : difference_error(rows.dims, query_norm, row_norm, distance);
  return squared / ((gaussian ? 2.0F : 1.0F) * h * h);
}

__device__ inline bool good_enough(const RowsView& rows, const BatchView& batch, Metric metric,
                                   int query, double total, double window_n, float nearest) {
  const float norm = batch.norms[query];
  if (!isfinite(norm)) return false;
  if (metric == Metric::kTensor) {
    // Beyond the reach of half precision.
    const auto scale = static_cast<float>(tensor_scale(rows, batch.kernel, batch.bandwidth));
    const float largest = fmaxf(2.0F * scale * norm * rows.word_unit, scale * norm * norm);
    if (!(largest <= 0.5F * kLargestHalf)) return false;
  }
  if (batch.kernel == kTareCudaNaive) {
    // Exact at the rim; where nearly every row is at the rim, that would take too long.
    const auto h = static_cast<float>(batch.bandwidth);
    if (!(h * h >= kLeastSquare)) return false;  // NaN too: the nearest rows were not found
    return total > 0.0 && rim_of(rows, metric, norm, h) <= 1e-3F * h * h;
  }
  const bool everywhere = batch.kernel == kTareCudaGaussian || batch.kernel == kTareCudaLaplace;
  if (!(total >= (everywhere ? kLeastTotal : kLeastCompactTotal))) return false;
  const float allowed =
      fminf(kMostError, kWeightError * sqrtf(fmaxf(1.0F, static_cast<float>(window_n))));
  return weight_error(rows, batch, metric, norm, nearest) <= allowed;
}

}  // namespace tare_cuda
