// SPDX-License-Identifier: BSD-3-Clause
#include "chunk_place.cuh"
#include "rank_plan.cuh"
#include "weights.cuh"

namespace tare_cuda {
namespace {

constexpr int kThreads = 256;

__device__ inline void load_together(const float* from, float (&to)[1]) { to[0] = *from; }
__device__ inline void load_together(const float* from, float (&to)[2]) {
  const float2 two = *reinterpret_cast<const float2*>(from);
  to[0] = two.x;
  to[1] = two.y;
}
__device__ inline void load_together(const float* from, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

/// The weights of a chunk's rows for one query, some for each lane.
template <int kDims, int kKernel, int kPerLane>
__device__ inline void chunk_weights(const RowsView& rows, const BatchView& batch, int query,
                                     const float* values, float rim, const Curve& curve, int chunk,
                                     int lane, float (&weight)[kPerLane]) {
  const long pitch = static_cast<long>(rows.blocks) * kBlock;
  const long first = static_cast<long>(chunk) * (32 * kPerLane) + lane * kPerLane;
  float squared[kPerLane] = {};
#pragma unroll
  for (int j = 0; j < kDims; ++j) {
    float row[kPerLane];
    load_together(rows.by_column + j * pitch + first, row);
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const float difference = row[i] - values[j];
      squared[i] = fmaf(difference, difference, squared[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    weight[i] = weight_of<kKernel>(squared[i], curve, rim);
    if constexpr (kKernel == kTareCudaNaive) {
      if (fabsf(squared[i] - curve.reach2) <= rim && first + i < rows.rows) {
        weight[i] = within_exactly(rows, batch.raw + static_cast<long>(query) * rows.dims,
                                   first + i, batch.bandwidth)
                        ? 1.0F
                        : 0.0F;
      }
    }
    if (rows.weights != nullptr) weight[i] *= rows.weights[first + i];
  }
}

/// One warp a query, one lane a level. The lanes find the chunks, and then the warp looks into one
/// chunk after the other.
template <int kDims, int kKernel, int kPerLane>
__global__ void __launch_bounds__(kThreads)
    pick(RowsView rows, BatchView batch, LevelsView levels, Curve curve, double* quantiles) {
  const int query = static_cast<int>((static_cast<long>(blockIdx.x) * kThreads + threadIdx.x) / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (query >= batch.count || batch.quality[query] != kTareCudaAnswered) return;
  float values[kDims];
#pragma unroll
  for (int j = 0; j < kDims; ++j) values[j] = batch.values[static_cast<long>(query) * kDims + j];
  float rim = 0.0F;
  if constexpr (kKernel == kTareCudaNaive || is_compact(kKernel)) {
    rim =
        rim_of(rows, Metric::kDifferences, batch.norms[query], static_cast<float>(batch.bandwidth));
  }
  const double total = batch.totals[query];
  const double window_n = batch.window_n[query];
  const bool counts = kKernel == kTareCudaNaive && rows.weights == nullptr;
  const bool expected = levels.ranks.expected != 0;
  const bool few =
      expected && !counts && rint(window_n) <= static_cast<double>(levels.ranks.few_rows);
  for (int first = 0; first < levels.count; first += 32) {
    const int mine = first + lane;
    const bool active = mine < levels.count;
    const double level = active ? levels.levels[mine] : 0.5;
    const Plan plan = plan_of(level, total, window_n, counts, levels.ranks);
    double found[3] = {};
#pragma unroll
    for (int which = 0; which < 3; ++which) {  // a, b, the paper's
      if (which < 2 ? !expected : expected && !few) continue;
      const double target = which == 0 ? plan.a : which == 1 ? plan.b : plan.paper;
      if (which == 1 && __all_sync(~0U, plan.share == 0.0)) {
        found[1] = found[0];
        continue;
      }
      const auto sought = static_cast<float>(target);
      const int low = first_chunk(batch.sums + query, batch.pitch, batch.chunks, sought);
      const double before =
          low > 0
              ? static_cast<double>(batch.sums[static_cast<long>(low - 1) * batch.pitch + query])
              : 0.0;
      const float want = fmaxf(static_cast<float>(target - before), 1e-37F);
      int row = 0;
      const int last = min(32, levels.count - first);
      for (int k = 0; k < last; ++k) {
        const int chunk = __shfl_sync(~0U, low, k);
        float weight[kPerLane];
        chunk_weights<kDims, kKernel, kPerLane>(rows, batch, query, values, rim, curve, chunk, lane,
                                                weight);
        const int place = place_in_chunk(weight, __shfl_sync(~0U, want, k), lane);
        if (lane == k) row = chunk * (32 * kPerLane) + place;
      }
      found[which] = rows.residuals[min(row, rows.rows - 1)];
    }
    const double value = value_of(plan, found, level, expected, few);
    if (active) quantiles[static_cast<long>(query) * levels.count + mine] = value;
  }
}

}  // namespace

void pick_quantiles(const RowsView& rows, const BatchView& batch, const LevelsView& levels,
                    double* quantiles, cudaStream_t stream) {
  if (levels.count == 0) return;
  const Curve curve = curve_of(batch.kernel, batch.bandwidth);
  const long threads = 32L * batch.count;
  const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  with_dims(rows.padded, [&](auto dims) {
    with_kernel(batch.kernel, [&](auto kernel) {
      constexpr int kDims = decltype(dims)::value;
      constexpr int kKernel = decltype(kernel)::value;
      const auto start = [&](auto per_lane) {
        pick<kDims, kKernel, decltype(per_lane)::value>
            <<<blocks, kThreads, 0, stream>>>(rows, batch, levels, curve, quantiles);
      };
      if constexpr (kKernel == kTareCudaGaussian) {  // the others have chunks of whole blocks
        if (batch.chunk_rows == 32) return start(Constant<1>());
        if (batch.chunk_rows == 64) return start(Constant<2>());
      }
      start(Constant<kBlock / 32>());
    });
  });
  check_launch("picking quantiles");
}

}  // namespace tare_cuda
