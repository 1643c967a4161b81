// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "near.h"
#include "weights.cuh"

namespace tare_cuda {

/// A query of a tile, as one thread sees it.
template <int kDims>
struct NearQuery {
  __device__ NearQuery(const RowsView& rows, const BatchView& batch, const TilesView& tiles,
                       int tile, int thread) {
    const int2 range = tiles.ranges[tile];
    number = range.x + thread < range.y ? tiles.order[range.x + thread] : -1;
    if (number >= 0) norm = batch.norms[number];
    reachable = isfinite(norm);
#pragma unroll
    for (int j = 0; j < kDims; ++j) {
      values[j] = reachable ? batch.values[static_cast<long>(number) * kDims + j] : 0.0F;
    }
    raw = batch.raw + static_cast<long>(max(number, 0)) * rows.dims;
  }

  __device__ float squared_distance(const float (&row)[kDims]) const {
    float squared = 0.0F;
#pragma unroll
    for (int j = 0; j < kDims; ++j) {
      const float difference = row[j] - values[j];
      squared = fmaf(difference, difference, squared);
    }
    return squared;
  }

  int number = -1;
  float norm = INFINITY;
  bool reachable = false;
  float values[kDims];
  const double* raw = nullptr;
};

/// Some rows in shared memory.
template <int kDims>
struct NearStage {
  alignas(16) float values[kNearChunk * kDims];
  int numbers[kNearChunk];
};

/// Calls use(row, its values) for the rows of a tile's list, for all threads of the block at once,
/// and after_chunk(chunk) behind every chunk of them.
template <int kDims, class Use, class After>
__device__ inline void for_each_near(const RowsView& rows, const int* list, int count,
                                     NearStage<kDims>& stage, const Use& use,
                                     const After& after_chunk) {
  constexpr int kQuads = kDims / 4;
  const int chunks = (count + kNearChunk - 1) / kNearChunk;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int here = min(kNearChunk, count - chunk * kNearChunk);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < here * kQuads; i += kTile) {
      const long row = list[chunk * kNearChunk + i / kQuads];
      reinterpret_cast<float4*>(stage.values)[i] =
          reinterpret_cast<const float4*>(rows.by_row + row * kDims)[i % kQuads];
      if (i % kQuads == 0) stage.numbers[i / kQuads] = static_cast<int>(row);
    }
    __syncthreads();
    if (here == kNearChunk) {
#pragma unroll 4
      for (int i = 0; i < kNearChunk; ++i) {
        float row[kDims];
        read_row(stage.values, i, row);
        use(stage.numbers[i], row);
      }
    } else {
      for (int i = 0; i < here; ++i) {
        float row[kDims];
        read_row(stage.values, i, row);
        use(stage.numbers[i], row);
      }
    }
    after_chunk(chunk);
  }
  __syncthreads();
}

/// The weight of a row for a query.
template <int kKernel>
struct NearWeight {
  __device__ NearWeight(const RowsView& rows, const BatchView& batch, const TilesView& tiles,
                        int query, float norm, const Curve& given)
      : curve(given) {
    double reach = batch.bandwidth;
    if constexpr (kKernel == kTareCudaKnn) {
      exact_reach2 = query >= 0 ? tiles.query_reach2[query] : 0.0;
      reach = sqrt(exact_reach2);
    } else {
      exact_reach2 = __dmul_rn(reach, reach);
    }
    reach2 = static_cast<float>(exact_reach2);
    rim = rim_of(rows, Metric::kDifferences, norm, static_cast<float>(reach));
  }

  __device__ float operator()(const RowsView& rows, const double* raw, int row,
                              float squared) const {
    float weight = 0.0F;
    if constexpr (kKernel == kTareCudaNaive || kKernel == kTareCudaKnn) {
      if (squared > reach2 + rim) return 0.0F;
      if (squared >= reach2 - rim && !(exact_squared_distance(rows, raw, row) <= exact_reach2)) {
        return 0.0F;
      }
      weight = 1.0F;
    } else {
      if (squared >= reach2) return 0.0F;
      weight = weight_of<kKernel>(squared, curve, rim);
    }
    return rows.weights != nullptr ? weight * rows.weights[row] : weight;
  }

  Curve curve;
  double exact_reach2;
  float reach2;
  float rim;
};

}  // namespace tare_cuda
