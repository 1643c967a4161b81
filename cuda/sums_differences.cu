// SPDX-License-Identifier: BSD-3-Clause
#include "weights.cuh"

namespace tare_cuda {
namespace {

constexpr int kThreads = 128;

/// Queries of one thread: as many as its registers hold.
__host__ __device__ constexpr int queries_per_thread(int dims) {
  return dims <= 16 ? 4 : dims <= 32 ? 2 : 1;
}

/// Adds up the weights of each chunk, one thread for a few queries; the rows of a chunk are in
/// shared memory, and every thread reads the same one.
template <int kDims, int kKernel>
__global__ void __launch_bounds__(kThreads)
    difference_sums(RowsView rows, BatchView batch, Curve curve) {
  constexpr int kQueries = queries_per_thread(kDims);
  __shared__ __align__(16) float tile[kBlock * kDims];
  __shared__ float weights[kBlock];
  const int first = (blockIdx.x * kThreads + threadIdx.x) * kQueries;
  float query[kQueries][kDims];
  float rim[kQueries];
  float squares[kQueries] = {};
  float nearest[kQueries];
  int nearest_block[kQueries] = {};
#pragma unroll
  for (int k = 0; k < kQueries; ++k) {
    const int at = min(first + k, batch.count - 1);
    nearest[k] = INFINITY;
    rim[k] = 0.0F;
    if constexpr (kKernel == kTareCudaNaive || is_compact(kKernel)) {
      rim[k] =
          rim_of(rows, Metric::kDifferences, batch.norms[at], static_cast<float>(batch.bandwidth));
    }
#pragma unroll
    for (int j = 0; j < kDims; ++j) query[k][j] = batch.values[static_cast<long>(at) * kDims + j];
  }
  const int begin = blockIdx.y * batch.blocks_per_slice;
  const int end = min(rows.blocks, begin + batch.blocks_per_slice);
  for (int chunk = begin; chunk < end; ++chunk) {
    __syncthreads();
    const float4* source =
        reinterpret_cast<const float4*>(rows.by_row + static_cast<long>(chunk) * kBlock * kDims);
    for (int i = threadIdx.x; i < kBlock * kDims / 4; i += kThreads) {
      reinterpret_cast<float4*>(tile)[i] = source[i];
    }
    if (rows.weights != nullptr) {
      for (int i = threadIdx.x; i < kBlock; i += kThreads) {
        weights[i] = rows.weights[static_cast<long>(chunk) * kBlock + i];
      }
    }
    __syncthreads();
    float sums[kQueries] = {};
    float least[kQueries];
#pragma unroll
    for (int k = 0; k < kQueries; ++k) least[k] = INFINITY;
#pragma unroll 4
    for (int i = 0; i < kBlock; ++i) {
      float row[kDims];
      read_row(tile, i, row);
      const float row_weight = rows.weights != nullptr ? weights[i] : 1.0F;
#pragma unroll
      for (int k = 0; k < kQueries; ++k) {
        float squared = 0.0F;
#pragma unroll
        for (int j = 0; j < kDims; ++j) {
          const float difference = row[j] - query[k][j];
          squared = fmaf(difference, difference, squared);
        }
        float weight = weight_of<kKernel>(squared, curve, rim[k]);
        if constexpr (kKernel == kTareCudaNaive) {
          const long at = static_cast<long>(chunk) * kBlock + i;
          if (fabsf(squared - curve.reach2) <= rim[k] && at < rows.rows) {
            const int q = min(first + k, batch.count - 1);
            weight = within_exactly(rows, batch.raw + static_cast<long>(q) * rows.dims, at,
                                    batch.bandwidth)
                         ? 1.0F
                         : 0.0F;
          }
        }
        if (rows.weights != nullptr) weight *= row_weight;
        sums[k] += weight;
        squares[k] = fmaf(weight, weight, squares[k]);
        least[k] = fminf(least[k], squared);
      }
    }
#pragma unroll
    for (int k = 0; k < kQueries; ++k) {
      if (first + k < batch.count) {
        batch.sums[static_cast<long>(chunk) * batch.pitch + first + k] = sums[k];
      }
      if (least[k] < nearest[k]) {
        nearest[k] = least[k];
        nearest_block[k] = chunk;
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kQueries; ++k) {
    if (first + k >= batch.count) continue;
    const long at = static_cast<long>(blockIdx.y) * batch.pitch + first + k;
    batch.squares[at] = squares[k];
    batch.nearest[at] = nearest[k];
    batch.nearest_block[at] = nearest_block[k];
  }
}

}  // namespace

void sum_by_differences(const RowsView& rows, const BatchView& batch, cudaStream_t stream) {
  const Curve curve = curve_of(batch.kernel, batch.bandwidth);
  with_dims(rows.padded, [&](auto dims) {
    with_kernel(batch.kernel, [&](auto kernel) {
      constexpr int kDims = decltype(dims)::value;
      constexpr int kPerBlock = kThreads * queries_per_thread(kDims);
      const dim3 grid(static_cast<unsigned>((batch.count + kPerBlock - 1) / kPerBlock),
                      static_cast<unsigned>(batch.slices));
      difference_sums<kDims, decltype(kernel)::value>
          <<<grid, kThreads, 0, stream>>>(rows, batch, curve);
    });
  });
  check_launch("sums by differences");
}

}  // namespace tare_cuda
