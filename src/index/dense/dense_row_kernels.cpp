// SPDX-License-Identifier: BSD-3-Clause
// One query against chunks of rows: rows in the lanes.
#include "index/dense/dense_kernels.h"

#include <bit>
#include <cstring>

// Vectors of unknown length cannot be kept in arrays of registers.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/dense/dense_row_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow.
#include "index/dense/dense_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tare {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kChunkVectors = kDenseChunk / kWidth;

/// A number for each row of a chunk.
struct ChunkValues {
  Vec at[kChunkVectors];
};

/// Squared distances of one query from the rows of a chunk.
template <DenseMetric kMetric>
HWY_INLINE ChunkValues chunk_of_distances(const DenseRowsView& rows,
                                          const DenseQueriesView& queries, std::size_t lane,
                                          std::size_t chunk) {
  std::size_t x = chunk * rows.dims * kDenseChunk;
  std::size_t q = lane;
  ChunkValues sum;
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kChunkVectors; ++v) {
    sum.at[v] = first_feature<kMetric>(one_per_lane<kMetric>(rows.values, rows.low, x + v * kWidth),
                                       same_in_all<kMetric>(queries.values, queries.low, q));
  }
  for (std::size_t j = 1; j < rows.dims; ++j) {
    x += kDenseChunk;
    q += kDenseBlock;
    const auto query = same_in_all<kMetric>(queries.values, queries.low, q);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kChunkVectors; ++v) {
      const auto row = one_per_lane<kMetric>(rows.values, rows.low, x + v * kWidth);
      sum.at[v] = next_feature<kMetric>(row, query, sum.at[v]);
    }
  }
  const Vec query_norm = hn::Set(kF, queries.norms[lane]);
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kChunkVectors; ++v) {
    const Vec norm = hn::LoadU(kF, rows.norms + chunk * kDenseChunk + v * kWidth);
    sum.at[v] = squared_distance<kMetric>(sum.at[v], norm, query_norm);
  }
  return sum;
}

template <DenseMetric kMetric>
void row_distances(const DenseRowsView& rows, const DenseQueriesView& queries, std::size_t lane,
                   ChunkRange range, bool root, float* out) {
  for (std::size_t chunk = range.first; chunk < range.last; ++chunk, out += kDenseChunk) {
    const ChunkValues squared = chunk_of_distances<kMetric>(rows, queries, lane, chunk);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kChunkVectors; ++v) {
      hn::StoreU(root ? hn::Sqrt(squared.at[v]) : squared.at[v], kF, out + v * kWidth);
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

/// As many rows are below a target as come before it: counted without a branch, as none could be
/// foreseen.
HWY_INLINE std::size_t place_of(const double* sums, double target, const float* weights) {
  const hn::CappedTag<double, 8> d;
  const auto limit = hn::Set(d, target);
  std::size_t below = 0;
  for (std::size_t i = 0; i < kDenseChunk; i += hn::Lanes(d)) {
    below += hn::CountTrue(d, hn::Lt(hn::Load(d, sums + i), limit));
  }
  return below < kDenseChunk ? below : last_positive(weights);
}

void RowPlaces(const float* weights, double before, std::span<const double> targets,
               std::size_t* out) {
  alignas(64) double sums[kDenseChunk];
  cumulate(weights, before, sums);
  for (std::size_t t = 0; t < targets.size(); ++t) out[t] = place_of(sums, targets[t], weights);
}

std::size_t FindVisits(const double* after, std::span<const double> targets, std::uint32_t query,
                       std::uint32_t first, ChunkVisit* out) {
  const hn::CappedTag<double, kDenseSearch> d;
  std::size_t chunk = 0;
  ChunkVisit* visit = out;
  *visit = {0, query, first, first, 0.0};
  for (const double target : targets) {
    const auto limit = hn::Set(d, target);
    const std::size_t from = chunk;
    // Several chunks in one step: how many it takes to the next quantile cannot be foreseen.
    for (std::size_t passed = kDenseSearch; passed == kDenseSearch;) {
      passed = 0;
      for (std::size_t i = 0; i < kDenseSearch; i += hn::Lanes(d)) {
        passed += hn::CountTrue(d, hn::Lt(hn::LoadU(d, after + chunk + i), limit));
      }
      chunk += passed;
    }
    // The next visit, unless this target falls into the same chunk or the visit is still empty.
    const std::uint32_t number = visit->last;
    const bool next = chunk != from && visit->first != number;
    visit += next ? 1 : 0;
    const std::uint32_t visit_first = next ? number : visit->first;
    *visit = {static_cast<std::uint32_t>(chunk), query, visit_first, number + 1,
              *(after + chunk - 1)};
  }
  return targets.empty() ? 0 : static_cast<std::size_t>(visit - out) + 1;
}

/// Sums of a chunk's weights up to each row: within a vector in steps of 1, 2, 4 and 8 lanes.
HWY_INLINE void cumulate_vectors(ChunkValues& values) {
  const I lanes;
  const auto lane = hn::Iota(lanes, 0);
#pragma GCC unroll 8
  for (int step = 1; step < static_cast<int>(kWidth); step *= 2) {
    const auto has_left = hn::RebindMask(kF, hn::Gt(lane, hn::Set(lanes, step - 1)));
    const auto left =
        hn::IndicesFromVec(kF, hn::Max(hn::Sub(lane, hn::Set(lanes, step)), hn::Zero(lanes)));
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kChunkVectors; ++v) {
      const Vec shifted = hn::IfThenElseZero(has_left, hn::TableLookupLanes(values.at[v], left));
      values.at[v] = hn::Add(values.at[v], shifted);
    }
  }
  const auto last = hn::IndicesFromVec(kF, hn::Set(lanes, static_cast<int>(kWidth) - 1));
#pragma GCC unroll 8
  for (std::size_t v = 1; v < kChunkVectors; ++v) {
    values.at[v] = hn::Add(values.at[v], hn::TableLookupLanes(values.at[v - 1], last));
  }
}

/// Bit r: the comparison holds for row r.
template <class Compare>
HWY_INLINE std::uint32_t rows_where(const ChunkValues& values, const Compare& compare) {
  std::uint32_t bits = 0;
#pragma GCC unroll 8
  for (std::size_t v = 0; v < kChunkVectors; ++v) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(kF, compare(values.at[v]), bytes);
    std::uint32_t part = 0;
    std::memcpy(&part, bytes, sizeof(part));
    bits |= part << (v * kWidth);
  }
  return bits;
}

/// The first place from `place` on whose weight is positive; the last such where there is none.
HWY_INLINE std::uint32_t positive_place(std::uint32_t positive, std::uint32_t place) {
  const std::uint64_t from = (std::uint64_t{positive} >> place) << place;
  if (from != 0) return static_cast<std::uint32_t>(std::countr_zero(from));
  return positive == 0 ? 0 : static_cast<std::uint32_t>(std::bit_width(positive)) - 1;
}

template <DenseMetric kMetric, class Curve>
void places_of_visits(const DenseRowsView& rows, std::span<const DenseQueriesView> blocks,
                      const Curve& curve, std::span<const ChunkVisit> visits, const double* targets,
                      std::uint32_t* out) {
  for (const ChunkVisit& visit : visits) {
    ChunkValues values = chunk_of_distances<kMetric>(rows, blocks[visit.query / kDenseBlock],
                                                     visit.query % kDenseBlock, visit.chunk);
    const std::uint32_t first_row = visit.chunk * static_cast<std::uint32_t>(kDenseChunk);
#pragma GCC unroll 8
    for (std::size_t v = 0; v < kChunkVectors; ++v) {
      values.at[v] = curve(values.at[v]);
      if (rows.weights == nullptr) continue;
      values.at[v] = hn::Mul(values.at[v], hn::LoadU(kF, rows.weights + first_row + v * kWidth));
    }
    const std::uint32_t positive =
        rows_where(values, [](Vec v) HWY_ATTR { return hn::Gt(v, hn::Zero(kF)); });
    cumulate_vectors(values);
    for (std::uint32_t t = visit.first; t < visit.last; ++t) {
      const Vec target = hn::Set(kF, static_cast<float>(targets[t] - visit.before));
      const std::uint32_t below =
          rows_where(values, [=](Vec v) HWY_ATTR { return hn::Lt(v, target); });
      const auto place = static_cast<std::uint32_t>(std::popcount(below));
      out[t] = first_row + positive_place(positive, place);
    }
  }
}

void VisitPlaces(const DenseRowsView& rows, std::span<const DenseQueriesView> blocks,
                 DenseCurve curve, std::span<const ChunkVisit> visits, const double* targets,
                 std::uint32_t* out) {
  const Vec scale = hn::Set(kF, curve.scale);
  with_metric(blocks[0].metric, [&](auto metric) HWY_ATTR {
    if (curve.kind == KernelKind::kLaplace) {
      places_of_visits<metric.kValue>(rows, blocks, RootExponential{scale}, visits, targets, out);
    } else {
      places_of_visits<metric.kValue>(rows, blocks, Exponential{scale}, visits, targets, out);
    }
  });
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
HWY_EXPORT(FindVisits);
HWY_EXPORT(VisitPlaces);

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

std::size_t dense_find_visits(const double* after, std::span<const double> targets,
                              std::uint32_t query, std::uint32_t first, ChunkVisit* out) {
  return HWY_DYNAMIC_DISPATCH(FindVisits)(after, targets, query, first, out);
}

void dense_visit_places(const DenseRowsView& rows, std::span<const DenseQueriesView> blocks,
                        DenseCurve curve, std::span<const ChunkVisit> visits, const double* targets,
                        std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(VisitPlaces)(rows, blocks, curve, visits, targets, out);
}

}  // namespace tare
#endif
