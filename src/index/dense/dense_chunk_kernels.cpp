// SPDX-License-Identifier: BSD-3-Clause
// Many queries against chunks of rows: queries in the lanes, sums of a tile in registers.
#include "index/dense/dense_kernels.h"

// Vectors of unknown length cannot be kept in arrays of registers.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/dense/dense_chunk_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow.
#include "index/dense/dense_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

// A tile of rows and queries whose sums stay in registers over all features: 16 of 32, or 8 of 16.
constexpr std::size_t kTileVectors = 2;
constexpr std::size_t kTileQueries = kTileVectors * kWidth;
constexpr std::size_t kTileRows = kWidth == 16 ? 8 : 4;
static_assert(kDenseBlock % kTileQueries == 0 && kDenseChunk % kTileRows == 0);

struct Tile {
  Vec at[kTileRows][kTileVectors];
};

/// Squared distances of kTileRows rows, from `row` of the chunk on, to kTileQueries queries, from
/// `lane` of the block on.
template <DenseMetric kMetric>
HWY_INLINE Tile tile_distances(const DenseRowsView& rows, const DenseQueriesView& queries,
                               std::size_t chunk, std::size_t row, std::size_t lane) {
  Tile tile;
  std::size_t x = chunk * rows.dims * kDenseChunk + row;
  std::size_t q = lane;
  {
    const auto q0 = one_per_lane<kMetric>(queries.values, queries.low, q);
    const auto q1 = one_per_lane<kMetric>(queries.values, queries.low, q + kWidth);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const auto one = same_in_all<kMetric>(rows.values, rows.low, x + r);
      tile.at[r][0] = first_feature<kMetric>(one, q0);
      tile.at[r][1] = first_feature<kMetric>(one, q1);
    }
  }
  for (std::size_t j = 1; j < rows.dims; ++j) {
    x += kDenseChunk;
    q += kDenseBlock;
    const auto q0 = one_per_lane<kMetric>(queries.values, queries.low, q);
    const auto q1 = one_per_lane<kMetric>(queries.values, queries.low, q + kWidth);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const auto one = same_in_all<kMetric>(rows.values, rows.low, x + r);
      tile.at[r][0] = next_feature<kMetric>(one, q0, tile.at[r][0]);
      tile.at[r][1] = next_feature<kMetric>(one, q1, tile.at[r][1]);
    }
  }
  const Vec norm0 = hn::LoadU(kF, queries.norms + lane);
  const Vec norm1 = hn::LoadU(kF, queries.norms + lane + kWidth);
  const float* norms = rows.norms + chunk * kDenseChunk + row;
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kTileRows; ++r) {
    const Vec norm = hn::Set(kF, norms[r]);
    tile.at[r][0] = squared_distance<kMetric>(tile.at[r][0], norm, norm0);
    tile.at[r][1] = squared_distance<kMetric>(tile.at[r][1], norm, norm1);
  }
  return tile;
}

/// Combines the rows of a tile in pairs, pairs of pairs and so on: short chains of operations, and
/// small errors.
template <class Combine>
HWY_INLINE Vec over_rows(const Tile& tile, std::size_t v, const Combine& combine) {
  Vec half[kTileRows / 2];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kTileRows / 2; ++r) {
    half[r] = combine(tile.at[2 * r][v], tile.at[2 * r + 1][v]);
  }
#pragma GCC unroll 8
  for (std::size_t step = 1; step < kTileRows / 2; step *= 2) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r + step < kTileRows / 2; r += 2 * step) {
      half[r] = combine(half[r], half[r + step]);
    }
  }
  return half[0];
}

HWY_INLINE Vec rows_sum(const Tile& tile, std::size_t v) {
  return over_rows(tile, v, [](Vec a, Vec b) HWY_ATTR { return hn::Add(a, b); });
}
HWY_INLINE Vec rows_min(const Tile& tile, std::size_t v) {
  return over_rows(tile, v, [](Vec a, Vec b) HWY_ATTR { return hn::Min(a, b); });
}

HWY_INLINE void add_to_doubles(Vec v, double* sums) {
  float lanes[kWidth];
  hn::StoreU(v, kF, lanes);
  for (std::size_t i = 0; i < kWidth; ++i) sums[i] += static_cast<double>(lanes[i]);
}

/// Replaces the distances of a tile by weights.
template <class Curve>
HWY_INLINE void weigh_tile(const Curve& curve, const float* sample_weights, Tile& tile) {
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kTileRows; ++r) {
    tile.at[r][0] = curve(tile.at[r][0]);
    tile.at[r][1] = curve(tile.at[r][1]);
  }
  if (sample_weights == nullptr) return;
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kTileRows; ++r) {
    const Vec weight = hn::Set(kF, sample_weights[r]);
    tile.at[r][0] = hn::Mul(tile.at[r][0], weight);
    tile.at[r][1] = hn::Mul(tile.at[r][1], weight);
  }
}

HWY_INLINE Vec add_squares_of_rows(const Tile& tile, std::size_t v, Vec squares) {
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kTileRows; ++r) {
    squares = hn::MulAdd(tile.at[r][v], tile.at[r][v], squares);
  }
  return squares;
}

template <DenseMetric kMetric, class Curve>
void sum_chunks(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                const Curve& curve, const ChunkSums& out) {
  for (std::size_t lane = 0; lane < kDenseBlock; lane += kTileQueries) {
    Vec squares[kTileVectors] = {hn::Zero(kF), hn::Zero(kF)};
    for (std::size_t chunk = range.first; chunk < range.last; ++chunk) {
      Vec sum[kTileVectors] = {hn::Zero(kF), hn::Zero(kF)};
      Vec least[kTileVectors] = {hn::Inf(kF), hn::Inf(kF)};
      for (std::size_t row = 0; row < kDenseChunk; row += kTileRows) {
        Tile tile = tile_distances<kMetric>(rows, queries, chunk, row, lane);
        least[0] = hn::Min(least[0], rows_min(tile, 0));
        least[1] = hn::Min(least[1], rows_min(tile, 1));
        const float* weights =
            rows.weights == nullptr ? nullptr : rows.weights + chunk * kDenseChunk + row;
        weigh_tile(curve, weights, tile);
        sum[0] = hn::Add(sum[0], rows_sum(tile, 0));
        sum[1] = hn::Add(sum[1], rows_sum(tile, 1));
        squares[0] = add_squares_of_rows(tile, 0, squares[0]);
        squares[1] = add_squares_of_rows(tile, 1, squares[1]);
      }
      const std::size_t at = chunk * kDenseBlock + lane;
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        hn::StoreU(sum[v], kF, out.sums + at + v * kWidth);
        hn::StoreU(least[v], kF, out.nearest + at + v * kWidth);
      }
    }
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      add_to_doubles(squares[v], out.squares + lane + v * kWidth);
    }
  }
}

template <DenseMetric kMetric>
void nearest_in_chunks(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                       const ChunkSums& out) {
  for (std::size_t lane = 0; lane < kDenseBlock; lane += kTileQueries) {
    for (std::size_t chunk = range.first; chunk < range.last; ++chunk) {
      Vec least[kTileVectors] = {hn::Inf(kF), hn::Inf(kF)};
      for (std::size_t row = 0; row < kDenseChunk; row += kTileRows) {
        const Tile tile = tile_distances<kMetric>(rows, queries, chunk, row, lane);
        least[0] = hn::Min(least[0], rows_min(tile, 0));
        least[1] = hn::Min(least[1], rows_min(tile, 1));
      }
      for (std::size_t v = 0; v < kTileVectors; ++v) {
        hn::StoreU(least[v], kF, out.nearest + chunk * kDenseBlock + lane + v * kWidth);
      }
    }
  }
}

template <DenseMetric kMetric>
void sum_chunks_of(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                   DenseCurve curve, const ChunkSums& out) {
  const Vec scale = hn::Set(kF, curve.scale);
  if (curve.kind == KernelKind::kLaplace) {
    sum_chunks<kMetric>(rows, queries, range, RootExponential{scale}, out);
  } else {
    sum_chunks<kMetric>(rows, queries, range, Exponential{scale}, out);
  }
}

void ChunkSumsOf(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                 DenseCurve curve, const ChunkSums& out) {
  with_metric(queries.metric, [&](auto metric) HWY_ATTR {
    sum_chunks_of<metric.kValue>(rows, queries, range, curve, out);
  });
}

void ChunkNearest(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                  const ChunkSums& out) {
  with_metric(queries.metric, [&](auto metric) HWY_ATTR {
    nearest_in_chunks<metric.kValue>(rows, queries, range, out);
  });
}

template <DenseMetric kMetric>
void chunk_distances(const DenseRowsView& rows, const DenseQueriesView& queries, std::size_t chunk,
                     bool root, float* out) {
  for (std::size_t lane = 0; lane < kDenseBlock; lane += kTileQueries) {
    for (std::size_t row = 0; row < kDenseChunk; row += kTileRows) {
      const Tile tile = tile_distances<kMetric>(rows, queries, chunk, row, lane);
      for (std::size_t r = 0; r < kTileRows; ++r) {
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          const Vec distance = root ? hn::Sqrt(tile.at[r][v]) : tile.at[r][v];
          hn::StoreU(distance, kF, out + (row + r) * kDenseBlock + lane + v * kWidth);
        }
      }
    }
  }
}

void ChunkDistances(const DenseRowsView& rows, const DenseQueriesView& queries, std::size_t chunk,
                    KernelKind kind, float* out) {
  const bool root = dense_takes_root(kind);
  with_metric(queries.metric, [&](auto metric) HWY_ATTR {
    chunk_distances<metric.kValue>(rows, queries, chunk, root, out);
  });
}

template <class Curve>
HWY_INLINE void sweep_chunk(const Curve& curve, const float* distances, const float* shifts,
                            const float* sample_weights, float* out) {
  for (std::size_t lane = 0; lane < kDenseBlock; lane += kTileQueries) {
    const Vec shift0 = hn::LoadU(kF, shifts + lane);
    const Vec shift1 = hn::LoadU(kF, shifts + lane + kWidth);
    Vec sum[kTileVectors] = {hn::Zero(kF), hn::Zero(kF)};
    for (std::size_t row = 0; row < kDenseChunk; row += kTileRows) {
      Tile tile;
#pragma GCC unroll 8
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const float* at = distances + (row + r) * kDenseBlock + lane;
        tile.at[r][0] = hn::Sub(hn::LoadU(kF, at), shift0);
        tile.at[r][1] = hn::Sub(hn::LoadU(kF, at + kWidth), shift1);
      }
      weigh_tile(curve, sample_weights == nullptr ? nullptr : sample_weights + row, tile);
      sum[0] = hn::Add(sum[0], rows_sum(tile, 0));
      sum[1] = hn::Add(sum[1], rows_sum(tile, 1));
    }
    hn::StoreU(sum[0], kF, out + lane);
    hn::StoreU(sum[1], kF, out + lane + kWidth);
  }
}

void SweepSums(std::span<const DenseCurve> curves, const float* distances, const float* shifts,
               const float* sample_weights, std::size_t stride, float* out) {
  for (const DenseCurve& curve : curves) {
    with_curve(curve, [&](const auto& weight) HWY_ATTR {
      sweep_chunk(weight, distances, shifts, sample_weights, out);
    });
    out += stride;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tare
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tare {
namespace {

HWY_EXPORT(ChunkSumsOf);
HWY_EXPORT(ChunkNearest);
HWY_EXPORT(ChunkDistances);
HWY_EXPORT(SweepSums);

}  // namespace

void dense_chunk_sums(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                      DenseCurve curve, const ChunkSums& out) {
  HWY_DYNAMIC_DISPATCH(ChunkSumsOf)(rows, queries, range, curve, out);
}

void dense_chunk_nearest(const DenseRowsView& rows, const DenseQueriesView& queries,
                         ChunkRange range, const ChunkSums& out) {
  HWY_DYNAMIC_DISPATCH(ChunkNearest)(rows, queries, range, out);
}

void dense_chunk_distances(const DenseRowsView& rows, const DenseQueriesView& queries,
                           std::size_t chunk, KernelKind kind, float* out) {
  HWY_DYNAMIC_DISPATCH(ChunkDistances)(rows, queries, chunk, kind, out);
}

void dense_sweep_sums(std::span<const DenseCurve> curves, const float* distances,
                      const float* shifts, const float* sample_weights, std::size_t stride,
                      float* out) {
  HWY_DYNAMIC_DISPATCH(SweepSums)(curves, distances, shifts, sample_weights, stride, out);
}

}  // namespace tare
#endif
