// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "device/cuda_abi.h"
#include "rows_view.h"

namespace tare_cuda {

/// How squared distances are computed.
enum class Metric {
  kTensor,       // |x|^2 + |q|^2 - 2 x q, products by tensor cores; gaussian and naive
  kDifferences,  // the sum of (x - q)^2
  kNear          // the same, of rows that may be in a window alone: near.h
};

/// Queries that are answered together, as kernels see them. Pitch: from one chunk's or slice's
/// sums to those of the next.
struct BatchView {
  int count = 0;
  int pitch = 0;
  int chunk_rows = kBlock;  // 32, 64 or 128
  int chunks = 0;
  int slices = 1;  // of the rows' blocks; each is summed by threads of its own
  int blocks_per_slice = 0;
  int kernel = 0;
  double bandwidth = 1.0;
  bool want_nearest = false;
  const double* raw = nullptr;    // [query][dim]
  const float* values = nullptr;  // centred, [query][padded]
  const float* biases = nullptr;  // of rows, for sum_by_tensor
  const float* norms =
      nullptr;               // not squared; infinite for a query out of reach of single precision
  float* sums = nullptr;     // [chunk][query]
  float* squares = nullptr;  // [slice][query]: of weights
  float* nearest = nullptr;  // [slice][query]: the smallest squared distance, about
  int* nearest_block = nullptr;
  double* totals = nullptr;
  double* window_n = nullptr;
  double* distance = nullptr;
  std::uint8_t* quality = nullptr;
};

/// Queries, centred and in single precision. `single_precision`: raw holds floats.
void prepare_queries(const RowsView& rows, const void* given, bool single_precision, int count,
                     double* raw, float* values, float* norms, cudaStream_t stream);

/// What sum_by_tensor needs of the rows at a bandwidth: one number for each.
void prepare_tensor(const RowsView& rows, int kernel, double bandwidth, float* biases,
                    cudaStream_t stream);

/// Fills sums, squares and, where wanted, nearest and nearest_block.
void sum_by_tensor(const RowsView& rows, const BatchView& batch, cudaStream_t stream);
void sum_by_differences(const RowsView& rows, const BatchView& batch, cudaStream_t stream);

/// Cumulates sums over chunks, in place; fills totals, window_n, distance and quality.
void cumulate(const RowsView& rows, const BatchView& batch, Metric metric, cudaStream_t stream);

/// The quantiles of answered queries: [query][level].
struct LevelsView {
  const double* levels = nullptr;
  int count = 0;
  TareCudaRanks ranks{};
};
void pick_quantiles(const RowsView& rows, const BatchView& batch, const LevelsView& levels,
                    double* quantiles, cudaStream_t stream);

/// From squared distances to exponents of 2, for gaussian kernels: minus this times the distance.
__host__ __device__ inline double gaussian_scale(double bandwidth) {
  constexpr double kLog2E = 1.4426950408889634;
  return 0.5 * kLog2E / (bandwidth * bandwidth);
}

/// What sum_by_tensor multiplies squared distances by. For windows it has no meaning, and is a
/// power of two with which half precision holds all numbers.
__host__ __device__ inline double tensor_scale(const RowsView& rows, int kernel, double bandwidth) {
  if (kernel != kTareCudaNaive) return gaussian_scale(bandwidth);
  const double largest = fmax(static_cast<double>(rows.largest_norm), 1e-30);
  return exp2(8.0 - 2.0 * ceil(log2(largest)));
}

}  // namespace tare_cuda
