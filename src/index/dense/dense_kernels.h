// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tare/math/kernel.h"

namespace tare {

// The loops under DenseWeights and DenseSweep, in single precision on the widest vectors there are.
//
// Rows come in chunks, queries in blocks, and both are stored feature by feature: rows as
// [chunk][feature][kDenseChunk], queries as [feature][kDenseBlock]. Every number that depends on a
// row and a query is computed by the same operations in the same order wherever it is computed
// again, so its bits do not depend on what lies beside it.

inline constexpr std::size_t kDenseChunk = 32;  // rows
inline constexpr std::size_t kDenseBlock = 32;  // queries

/// How squared distances are computed.
enum class DenseMetric : std::uint8_t {
  kProduct,      // |x|^2 + |q|^2 - 2 q.x: one operation per feature, but large norms cancel
  kDifferences,  // sum of (x - q)^2: two operations per feature, no cancellation
  kSplit,        // the same with coordinates of two floats each: for rows near each other and far
                 // from the centre
};

struct DenseRowsView {
  const float* values = nullptr;   // whole chunks; rows that fill up the last lie far away
  const float* low = nullptr;      // what rounding to `values` left over
  const float* norms = nullptr;    // |x|^2, infinite for rows that fill up
  const float* weights = nullptr;  // may be null: all 1
  std::size_t dims = 0;            // at least 1
};

struct DenseQueriesView {
  const float* values = nullptr;  // times -2 for kProduct
  const float* low = nullptr;
  const float* norms = nullptr;  // |q|^2
  DenseMetric metric = DenseMetric::kProduct;
};

/// Chunks first, ..., last - 1.
struct ChunkRange {
  std::size_t first = 0;
  std::size_t last = 0;
};

/// A kernel and its bandwidth, as the loops want it: see dense_curve.
struct DenseCurve {
  KernelKind kind = KernelKind::kGaussian;
  float scale = 0.0F;
};

/// Not for knn. `bandwidth` from kNarrowestDense to kWidestDense.
DenseCurve dense_curve(KernelKind kind, double bandwidth);

inline constexpr double kNarrowestDense = 1e-12;
inline constexpr double kWidestDense = 1e12;

/// Kernels of the distance itself and not of its square.
constexpr bool dense_takes_root(KernelKind kind) {
  return kind == KernelKind::kLaplace || kind == KernelKind::kTriangular ||
         kind == KernelKind::kTricube;
}

/// What one block of queries finds out about each chunk: arrays of [chunk][kDenseBlock], from chunk
/// 0 on.
struct ChunkSums {
  float* sums = nullptr;      // of the weights
  float* nearest = nullptr;   // smallest squared distance
  double* squares = nullptr;  // kDenseBlock sums of squared weights, added to
};

/// Gaussian and laplace.
void dense_chunk_sums(const DenseRowsView& rows, const DenseQueriesView& queries, ChunkRange range,
                      DenseCurve curve, const ChunkSums& out);

/// The distance part of dense_chunk_sums alone: only `nearest` is written.
void dense_chunk_nearest(const DenseRowsView& rows, const DenseQueriesView& queries,
                         ChunkRange range, const ChunkSums& out);

/// Squared distances (or distances, for kernels of those) of the rows of one chunk, a row of
/// kDenseBlock queries each.
void dense_chunk_distances(const DenseRowsView& rows, const DenseQueriesView& queries,
                           std::size_t chunk, KernelKind kind, float* out);

/// The same for one query of the block: kDenseChunk numbers per chunk.
void dense_row_distances(const DenseRowsView& rows, const DenseQueriesView& queries,
                         std::size_t lane, ChunkRange range, KernelKind kind, float* out);

/// The weights of one chunk's rows at distances from dense_row_distances, less `shift`.
void dense_row_weights(DenseCurve curve, const float* distances, float shift,
                       const float* sample_weights, float* out);

/// Among such weights the first places (0, ..., kDenseChunk - 1) with positive weight at which the
/// weight cumulated from `before` on has reached the targets; the last with positive weight where
/// rounding leaves a target out of reach.
void dense_row_places(const float* weights, double before, std::span<const double> targets,
                      std::size_t* out);

/// A query's return to a chunk into which some of its quantiles fall.
struct ChunkVisit {
  std::uint32_t chunk = 0;
  std::uint32_t query = 0;  // kDenseBlock to a block
  std::uint32_t first = 0;  // of the targets that fall into the chunk
  std::uint32_t last = 0;   // one past
  double before = 0.0;      // the weight of all chunks before
};

/// The chunks in which ascending targets are reached: after[c] is the weight of chunk c and all
/// before it, after[-1] is 0, and from the last chunk on kDenseSearch values are infinite. The
/// targets are those of `query`, the first with the number `first`. Returns how many visits were
/// written; there is room for one for each target.
inline constexpr std::size_t kDenseSearch = 8;
std::size_t dense_find_visits(const double* after, std::span<const double> targets,
                              std::uint32_t query, std::uint32_t first, ChunkVisit* out);

/// out[t] = the row at which targets[t] is reached, for the targets of each visit; what
/// dense_row_distances, dense_row_weights and dense_row_places do, in one go. Weights within the
/// chunk are added in single precision, as dense_chunk_sums does. Gaussian and laplace. The blocks
/// have one metric.
void dense_visit_places(const DenseRowsView& rows, std::span<const DenseQueriesView> blocks,
                        DenseCurve curve, std::span<const ChunkVisit> visits, const double* targets,
                        std::uint32_t* out);

/// out[b * stride + lane]: the sum of the weights under curves[b] of one chunk's rows, at distances
/// from dense_chunk_distances, less the block's shifts.
void dense_sweep_sums(std::span<const DenseCurve> curves, const float* distances,
                      const float* shifts, const float* sample_weights, std::size_t stride,
                      float* out);

}  // namespace tare
