// SPDX-License-Identifier: BSD-3-Clause
#include "near_rows.cuh"
#include "rank_plan.cuh"

namespace tare_cuda {
namespace {

constexpr int kLevelsAtOnce = 4;  // of one block

/// The row at which the cumulated weight reaches `target`, by the additions of near_sums: the same
/// rows in the same order, so that it is reached.
template <int kDims, int kKernel>
__device__ inline int row_at(const RowsView& rows, const NearQuery<kDims>& query,
                             const NearWeight<kKernel>& weight_at, const int* list, int count,
                             const double* sums, double target) {
  int low = 0;
  int high = (count + kNearChunk - 1) / kNearChunk - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sums[static_cast<long>(middle) * kTile] >= target) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  double sum = low > 0 ? sums[static_cast<long>(low - 1) * kTile] : 0.0;
  int found = 0;
  const int end = min(count, (low + 1) * kNearChunk);
  for (int i = low * kNearChunk; i < end; ++i) {
    const int row = list[i];
    float values[kDims];
    read_row(rows.by_row + static_cast<long>(row) * kDims, 0, values);
    const float weight = weight_at(rows, query.raw, row, query.squared_distance(values));
    if (!(weight > 0.0F)) continue;
    found = row;
    sum += static_cast<double>(weight);
    if (sum >= target) break;
  }
  return found;
}

/// Blocks of a tile take some levels each; one thread a query.
template <int kDims, int kKernel>
__global__ void __launch_bounds__(kTile)
    near_pick(RowsView rows, BatchView batch, TilesView tiles, LevelsView levels, Curve curve,
              double* quantiles) {
  const int tile = tiles.first + static_cast<int>(blockIdx.x);
  const NearQuery<kDims> query(rows, batch, tiles, tile, static_cast<int>(threadIdx.x));
  if (query.number < 0 || batch.quality[query.number] != kTareCudaAnswered) return;
  const NearWeight<kKernel> weight_at(rows, batch, tiles, query.number, query.norm, curve);
  const long offset = tiles.offsets[blockIdx.x];
  const int* list = tiles.lists + offset;
  const double* sums = tiles.sums + offset / kNearChunk * kTile + threadIdx.x;
  const int count = tiles.counts[tile];
  const double total = batch.totals[query.number];
  const double window_n = batch.window_n[query.number];
  const bool counts =
      (kKernel == kTareCudaNaive || kKernel == kTareCudaKnn) && rows.weights == nullptr;
  const bool expected = levels.ranks.expected != 0;
  const bool few =
      expected && !counts && rint(window_n) <= static_cast<double>(levels.ranks.few_rows);
  const int first = static_cast<int>(blockIdx.y) * kLevelsAtOnce;
  const int last = min(levels.count, first + kLevelsAtOnce);
  for (int which = first; which < last; ++which) {
    const double level = levels.levels[which];
    const Plan plan = plan_of(level, total, window_n, counts, levels.ranks);
    const auto value_at = [&](double target) {
      return rows.residuals[row_at(rows, query, weight_at, list, count, sums, target)];
    };
    double found[3] = {};
    if (expected) {
      found[0] = value_at(plan.a);
      found[1] = plan.share == 0.0 ? found[0] : value_at(plan.b);
    }
    if (!expected || few) found[2] = value_at(plan.paper);
    quantiles[static_cast<long>(query.number) * levels.count + which] =
        value_of(plan, found, level, expected, few);
  }
}

}  // namespace

void pick_near(const RowsView& rows, const BatchView& batch, const TilesView& tiles, int count,
               const LevelsView& levels, double* quantiles, cudaStream_t stream) {
  if (levels.count == 0) return;
  const Curve curve = curve_of(batch.kernel, batch.bandwidth);
  const dim3 grid(static_cast<unsigned>(count),
                  static_cast<unsigned>((levels.count + kLevelsAtOnce - 1) / kLevelsAtOnce));
  with_dims(rows.padded, [&](auto dims) {
    with_window_kernel(batch.kernel, [&](auto kernel) {
      near_pick<decltype(dims)::value, decltype(kernel)::value>
          <<<grid, kTile, 0, stream>>>(rows, batch, tiles, levels, curve, quantiles);
    });
  });
  check_launch("picking quantiles of near rows");
}

}  // namespace tare_cuda
