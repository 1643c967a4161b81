// SPDX-License-Identifier: BSD-3-Clause
#include "index/dense_kernels.h"

#include <cassert>
#include <cmath>

// Vectors of unknown length cannot be kept in arrays of registers.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/dense_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::CappedTag<float, 16>;
using I = hn::RebindToSigned<F>;
using Vec = hn::VFromD<F>;

constexpr F kF{};
constexpr std::size_t kWidth = hn::MaxLanes(kF);
// A tile of rows and queries whose sums stay in registers over all features: 16 of 32, or 8 of 16.
constexpr std::size_t kTileVectors = 2;
constexpr std::size_t kTileQueries = kTileVectors * kWidth;
constexpr std::size_t kTileRows = kWidth == 16 ? 8 : 4;
static_assert(kDenseBlock % kTileQueries == 0 && kDenseChunk % kTileRows == 0);

struct Tile {
  Vec at[kTileRows][kTileVectors];
};

/// 2^y for y <= 0, to 2 units in the last place; 0 below -125.
HWY_INLINE Vec exp2_negative(Vec y) {
  const Vec round = hn::Set(kF, 0x1.8p+23F);  // adding it rounds to a whole number k...
  const Vec shifted = hn::Add(y, round);
  const Vec f = hn::Sub(y, hn::Sub(shifted, round));  // |f| <= 1/2
  // Minimax for the relative error, 1.6e-7 with the first coefficient set to 1.
  Vec p = hn::Set(kF, 0x1.5c08e6p-10F);
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.3d0c52p-7F));
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.c6b6e4p-5F));
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.ebf918p-3F));
  p = hn::MulAdd(p, f, hn::Set(kF, 0x1.62e428p-1F));
  p = hn::MulAdd(p, f, hn::Set(kF, 1.0F));
  // ...which then lies in the low bits, and goes into the exponent.
  const auto k = hn::ShiftLeft<23>(hn::BitCast(I{}, shifted));
  const Vec value = hn::BitCast(kF, hn::Add(hn::BitCast(I{}, p), k));
  return hn::IfThenElseZero(hn::Ge(y, hn::Set(kF, -125.0F)), value);
}

// Weights as functions of the (squared) distance v, with the scale of dense_curve.

struct Exponential {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const { return exp2_negative(hn::Mul(v, scale)); }
};
struct RootExponential {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const { return exp2_negative(hn::Mul(hn::Sqrt(v), scale)); }
};
struct Window {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const {
    return hn::IfThenElseZero(hn::Le(v, scale), hn::Set(kF, 1.0F));
  }
};
struct Linear {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const {
    return hn::Max(hn::Zero(kF), hn::NegMulAdd(v, scale, hn::Set(kF, 1.0F)));
  }
};
struct Tricube {
  Vec scale;
  HWY_INLINE Vec operator()(Vec v) const {
    const Vec s = hn::Mul(v, scale);
    const Vec base = hn::Max(hn::Zero(kF), hn::NegMulAdd(hn::Mul(s, s), s, hn::Set(kF, 1.0F)));
    return hn::Mul(hn::Mul(base, base), base);
  }
};

template <class Body>
HWY_INLINE void with_curve(DenseCurve curve, const Body& body) {
  const Vec scale = hn::Set(kF, curve.scale);
  switch (curve.kind) {
    case KernelKind::kGaussian:
    case KernelKind::kLaplace:
      return body(Exponential{scale});
    case KernelKind::kNaive:
      return body(Window{scale});
    case KernelKind::kEpanechnikov:
    case KernelKind::kTriangular:
      return body(Linear{scale});
    case KernelKind::kTricube:
      return body(Tricube{scale});
    case KernelKind::kKnn:
      break;
  }
}

template <DenseMetric kMetric>
struct MetricIs {
  static constexpr DenseMetric kValue = kMetric;
};

template <class Body>
HWY_INLINE void with_metric(DenseMetric metric, const Body& body) {
  switch (metric) {
    case DenseMetric::kProduct:
      return body(MetricIs<DenseMetric::kProduct>{});
    case DenseMetric::kDifferences:
      return body(MetricIs<DenseMetric::kDifferences>{});
    case DenseMetric::kSplit:
      return body(MetricIs<DenseMetric::kSplit>{});
  }
}

// The distance of a pair, step by step; both orders of loops below are made of these.

/// A coordinate, of one point in all lanes or of one point per lane.
struct Coordinate {
  Vec value;
  Vec low;  // only for kSplit
};

template <DenseMetric kMetric>
HWY_INLINE Coordinate same_in_all(const float* values, const float* low, std::size_t at) {
  const Vec value = hn::Set(kF, values[at]);
  if constexpr (kMetric == DenseMetric::kSplit) return {value, hn::Set(kF, low[at])};
  return {value, value};
}

template <DenseMetric kMetric>
HWY_INLINE Coordinate one_per_lane(const float* values, const float* low, std::size_t at) {
  const Vec value = hn::LoadU(kF, values + at);
  if constexpr (kMetric == DenseMetric::kSplit) return {value, hn::LoadU(kF, low + at)};
  return {value, value};
}

template <DenseMetric kMetric>
HWY_INLINE Vec difference(const Coordinate& x, const Coordinate& q) {
  const Vec high = hn::Sub(x.value, q.value);
  if constexpr (kMetric == DenseMetric::kSplit) return hn::Add(high, hn::Sub(x.low, q.low));
  return high;
}

template <DenseMetric kMetric>
HWY_INLINE Vec first_feature(const Coordinate& x, const Coordinate& q) {
  if constexpr (kMetric == DenseMetric::kProduct) return hn::Mul(x.value, q.value);
  const Vec apart = difference<kMetric>(x, q);
  return hn::Mul(apart, apart);
}

template <DenseMetric kMetric>
HWY_INLINE Vec next_feature(const Coordinate& x, const Coordinate& q, Vec sum) {
  if constexpr (kMetric == DenseMetric::kProduct) return hn::MulAdd(x.value, q.value, sum);
  const Vec apart = difference<kMetric>(x, q);
  return hn::MulAdd(apart, apart, sum);
}

template <DenseMetric kMetric>
HWY_INLINE Vec squared_distance(Vec sum, Vec row_norm, Vec query_norm) {
  if constexpr (kMetric != DenseMetric::kProduct) return sum;
  return hn::Max(hn::Zero(kF), hn::Add(hn::Add(sum, row_norm), query_norm));
}

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

/// One query, rows in the lanes.
template <DenseMetric kMetric>
void row_distances(const DenseRowsView& rows, const DenseQueriesView& queries, std::size_t lane,
                   ChunkRange range, bool root, float* out) {
  constexpr std::size_t kVectors = kDenseChunk / kWidth;
  const Vec query_norm = hn::Set(kF, queries.norms[lane]);
  for (std::size_t chunk = range.first; chunk < range.last; ++chunk, out += kDenseChunk) {
    std::size_t x = chunk * rows.dims * kDenseChunk;
    std::size_t q = lane;
    Vec sum[kVectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[v] = first_feature<kMetric>(one_per_lane<kMetric>(rows.values, rows.low, x + v * kWidth),
                                      same_in_all<kMetric>(queries.values, queries.low, q));
    }
    for (std::size_t j = 1; j < rows.dims; ++j) {
      x += kDenseChunk;
      q += kDenseBlock;
      const auto query = same_in_all<kMetric>(queries.values, queries.low, q);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto row = one_per_lane<kMetric>(rows.values, rows.low, x + v * kWidth);
        sum[v] = next_feature<kMetric>(row, query, sum[v]);
      }
    }
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Vec norm = hn::LoadU(kF, rows.norms + chunk * kDenseChunk + v * kWidth);
      const Vec distance = squared_distance<kMetric>(sum[v], norm, query_norm);
      hn::StoreU(root ? hn::Sqrt(distance) : distance, kF, out + v * kWidth);
    }
  }
}

void RowDistances(const DenseRowsView& rows, const DenseQueriesView& queries, std::size_t lane,
                  ChunkRange range, KernelKind kind, float* out) {
  const bool root = dense_takes_root(kind);
  with_metric(queries.metric, [&](auto metric) HWY_ATTR {
    row_distances<metric.kValue>(rows, queries, lane, range, root, out);
  });
}

void RowWeights(DenseCurve curve, const float* distances, float shift, const float* sample_weights,
                float* out) {
  with_curve(curve, [&](const auto& weight) HWY_ATTR {
    for (std::size_t i = 0; i < kDenseChunk; i += kWidth) {
      const Vec distance = hn::Sub(hn::LoadU(kF, distances + i), hn::Set(kF, shift));
      Vec w = weight(distance);
      if (sample_weights != nullptr) w = hn::Mul(w, hn::LoadU(kF, sample_weights + i));
      hn::StoreU(w, kF, out + i);
    }
  });
}

/// Cumulative weights after each row, in four chains at once.
HWY_INLINE void cumulate(const float* weights, double before, double* out) {
  constexpr std::size_t kChains = 4;
  constexpr std::size_t kLength = kDenseChunk / kChains;
  double chain[kChains] = {};
  for (std::size_t i = 0; i < kLength; ++i) {
    for (std::size_t c = 0; c < kChains; ++c) {
      chain[c] += static_cast<double>(weights[c * kLength + i]);
      out[c * kLength + i] = chain[c];
    }
  }
  for (std::size_t c = 0; c < kChains; ++c) {
    for (std::size_t i = 0; i < kLength; ++i) out[c * kLength + i] += before;
    before += chain[c];
  }
}

std::size_t last_positive(const float* weights) {
  std::size_t last = kDenseChunk - 1;
  while (last > 0 && !(weights[last] > 0.0F)) --last;
  return last;
}

void RowPlaces(const float* weights, double before, std::span<const double> targets,
               std::size_t* out) {
  const hn::CappedTag<double, 8> d;
  alignas(64) double sums[kDenseChunk];
  cumulate(weights, before, sums);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    // As many rows are below the target as come before it: without a branch, as none could be
    // foreseen.
    const auto target = hn::Set(d, targets[t]);
    std::size_t below = 0;
    for (std::size_t i = 0; i < kDenseChunk; i += hn::Lanes(d)) {
      below += hn::CountTrue(d, hn::Lt(hn::Load(d, sums + i), target));
    }
    out[t] = below < kDenseChunk ? below : last_positive(weights);
  }
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
HWY_EXPORT(RowDistances);
HWY_EXPORT(RowWeights);
HWY_EXPORT(RowPlaces);
HWY_EXPORT(SweepSums);

}  // namespace

DenseCurve dense_curve(KernelKind kind, double bandwidth) {
  assert(bandwidth >= kNarrowestDense && bandwidth <= kWidestDense && "out of reach of floats");
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  const auto curve = [&](double scale) { return DenseCurve{kind, static_cast<float>(scale)}; };
  switch (kind) {
    case KernelKind::kGaussian:
      return curve(-0.5 * kLog2E / (bandwidth * bandwidth));
    case KernelKind::kLaplace:
      return curve(-kLog2E / bandwidth);
    case KernelKind::kNaive:
      return curve(bandwidth * bandwidth);
    case KernelKind::kEpanechnikov:
      return curve(1.0 / (bandwidth * bandwidth));
    case KernelKind::kTriangular:
    case KernelKind::kTricube:
      return curve(1.0 / bandwidth);
    case KernelKind::kKnn:
      break;
  }
  assert(false && "the window of knn depends on the sample");
  return {};
}

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

void dense_row_distances(const DenseRowsView& rows, const DenseQueriesView& queries,
                         std::size_t lane, ChunkRange range, KernelKind kind, float* out) {
  HWY_DYNAMIC_DISPATCH(RowDistances)(rows, queries, lane, range, kind, out);
}

void dense_row_weights(DenseCurve curve, const float* distances, float shift,
                       const float* sample_weights, float* out) {
  HWY_DYNAMIC_DISPATCH(RowWeights)(curve, distances, shift, sample_weights, out);
}

void dense_row_places(const float* weights, double before, std::span<const double> targets,
                      std::size_t* out) {
  HWY_DYNAMIC_DISPATCH(RowPlaces)(weights, before, targets, out);
}

void dense_sweep_sums(std::span<const DenseCurve> curves, const float* distances,
                      const float* shifts, const float* sample_weights, std::size_t stride,
                      float* out) {
  HWY_DYNAMIC_DISPATCH(SweepSums)(curves, distances, shifts, sample_weights, stride, out);
}

}  // namespace tare
#endif
