// SPDX-License-Identifier: BSD-3-Clause
// One query against chunks of rows: rows in the lanes.
#include "index/dense_kernels.h"

// Vectors of unknown length cannot be kept in arrays of registers.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/dense_row_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow.
#include "index/dense_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tare
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tare {
namespace {

HWY_EXPORT(RowDistances);
HWY_EXPORT(RowWeights);
HWY_EXPORT(RowPlaces);

}  // namespace

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

}  // namespace tare
#endif
