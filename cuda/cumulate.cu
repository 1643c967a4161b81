// SPDX-License-Identifier: BSD-3-Clause
#include "quality.cuh"

namespace tare_cuda {
namespace {

constexpr int kThreads = 128;
/// Distance of the nearest row in a block, in double precision.
__device__ double exact_distance(const RowsView& rows, const double* query, int block, int lane) {
  double least = INFINITY;
  for (int i = lane; i < kBlock; i += 32) {
    const long row = static_cast<long>(block) * kBlock + i;
    if (row >= rows.rows) break;
    least = fmin(least, exact_squared_distance(rows, query, row));
  }
  for (int step = 1; step < 32; step *= 2) {
    least = fmin(least, __shfl_xor_sync(~0U, least, step));
  }
  return sqrt(least);
}

__global__ void __launch_bounds__(kThreads)
    cumulate_sums(RowsView rows, BatchView batch, Metric metric, bool nearest_known) {
  const int query = blockIdx.x * kThreads + threadIdx.x;
  if (query >= batch.count) return;
  double total = 0.0;
  float* sums = batch.sums + query;
  constexpr int kAtOnce = 16;  // loads that are under way together
  int chunk = 0;
  for (; chunk + kAtOnce <= batch.chunks; chunk += kAtOnce) {
    float some[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) some[k] = sums[static_cast<long>(chunk + k) * batch.pitch];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      total += static_cast<double>(some[k]);
      sums[static_cast<long>(chunk + k) * batch.pitch] = static_cast<float>(total);
    }
  }
  for (; chunk < batch.chunks; ++chunk) {
    total += static_cast<double>(sums[static_cast<long>(chunk) * batch.pitch]);
    sums[static_cast<long>(chunk) * batch.pitch] = static_cast<float>(total);
  }
  double squares = 0.0;
  float nearest = INFINITY;
  int nearest_block = 0;
  for (int slice = 0; slice < batch.slices; ++slice) {
    const long at = static_cast<long>(slice) * batch.pitch + query;
    squares += static_cast<double>(batch.squares[at]);
    if (nearest_known && batch.nearest[at] < nearest) {
      nearest = batch.nearest[at];
      nearest_block = batch.nearest_block[at];
    }
  }
  if (!nearest_known) {
    // One row has at least the mean weight, and a row of that weight is this far away at most.
    const double exponent = log2(fmax(total, 1e-300) / static_cast<double>(rows.rows));
    nearest = static_cast<float>(fmax(0.0, -exponent) / gaussian_scale(batch.bandwidth));
  }
  const double window_n = squares > 0.0 ? total * (total / squares) : 0.0;
  batch.totals[query] = total;
  batch.window_n[query] = window_n;
  batch.quality[query] = good_enough(rows, batch, metric, query, total, window_n, sqrtf(nearest))
                             ? kTareCudaAnswered
                             : kTareCudaNotAnswered;
  if (nearest_known) batch.nearest_block[query] = nearest_block;
}

/// One warp a query.
__global__ void nearest_distances(RowsView rows, BatchView batch) {
  const int query =
      static_cast<int>((static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32);
  if (query >= batch.count) return;
  const double distance =
      exact_distance(rows, batch.raw + static_cast<long>(query) * rows.dims,
                     batch.nearest_block[query], static_cast<int>(threadIdx.x % 32));
  if (threadIdx.x % 32 == 0) batch.distance[query] = distance;
}

}  // namespace

void cumulate(const RowsView& rows, const BatchView& batch, Metric metric, cudaStream_t stream) {
  const bool nearest_known = metric == Metric::kDifferences || batch.want_nearest;
  cumulate_sums<<<(batch.count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
      rows, batch, metric, nearest_known);
  check_launch("sums over chunks");
  if (!batch.want_nearest) return;
  const long threads = 32L * batch.count;
  nearest_distances<<<static_cast<unsigned>((threads + 255) / 256), 256, 0, stream>>>(rows, batch);
  check_launch("nearest rows");
}

}  // namespace tare_cuda
