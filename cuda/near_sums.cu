// SPDX-License-Identifier: BSD-3-Clause
#include "near_rows.cuh"
#include "quality.cuh"

namespace tare_cuda {
namespace {

/// One block a tile, one thread a query.
template <int kDims, int kKernel>
__global__ void __launch_bounds__(kTile)
    near_sums(RowsView rows, BatchView batch, TilesView tiles, Curve curve) {
  __shared__ NearStage<kDims> stage;
  const int tile = tiles.first + static_cast<int>(blockIdx.x);
  const NearQuery<kDims> query(rows, batch, tiles, tile, static_cast<int>(threadIdx.x));
  const NearWeight<kKernel> weight_at(rows, batch, tiles, query.number, query.norm, curve);
  const long offset = tiles.offsets[blockIdx.x];
  double* sums = tiles.sums + offset / kNearChunk * kTile + threadIdx.x;
  double total = 0.0;
  double squares = 0.0;
  float nearest = INFINITY;
  int nearest_row = 0;
  for_each_near<kDims>(
      rows, tiles.lists + offset, tiles.counts[tile], stage,
      [&](int row, const float(&values)[kDims]) {
        const float squared = query.squared_distance(values);
        const float weight = weight_at(rows, query.raw, row, squared);
        if (weight > 0.0F) {
          total += static_cast<double>(weight);
          squares += static_cast<double>(weight) * static_cast<double>(weight);
          if (squared < nearest) {
            nearest = squared;
            nearest_row = row;
          }
        }
      },
      [&](int chunk) { sums[static_cast<long>(chunk) * kTile] = total; });
  if (query.number < 0) return;
  const double window_n = squares > 0.0 ? total * (total / squares) : 0.0;
  batch.totals[query.number] = total;
  batch.window_n[query.number] = window_n;
  BatchView judged = batch;
  judged.kernel = kKernel == kTareCudaKnn ? static_cast<int>(kTareCudaNaive) : batch.kernel;
  if (kKernel == kTareCudaKnn) judged.bandwidth = sqrt(weight_at.exact_reach2);
  const bool good = query.reachable && total > 0.0 &&
                    good_enough(rows, judged, Metric::kDifferences, query.number, total, window_n,
                                sqrtf(nearest));
  batch.quality[query.number] = good ? kTareCudaAnswered : kTareCudaNotAnswered;
  if (batch.want_nearest && good) {
    batch.distance[query.number] = sqrt(exact_squared_distance(rows, query.raw, nearest_row));
  }
}

}  // namespace

void sum_near(const RowsView& rows, const BatchView& batch, const TilesView& tiles, int count,
              cudaStream_t stream) {
  const Curve curve = curve_of(batch.kernel, batch.bandwidth);
  with_dims(rows.padded, [&](auto dims) {
    with_window_kernel(batch.kernel, [&](auto kernel) {
      near_sums<decltype(dims)::value, decltype(kernel)::value>
          <<<static_cast<unsigned>(count), kTile, 0, stream>>>(rows, batch, tiles, curve);
    });
  });
  check_launch("sums over near rows");
}

}  // namespace tare_cuda
